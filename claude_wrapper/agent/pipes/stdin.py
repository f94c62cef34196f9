"""Reading stdin: bytes as they come, whatever stdin is, without holding the event loop up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

__all__ = ["ByteReader", "read_available"]

_CHUNK = 256 * 1024
_ROUNDS_OF_A_SIGNAL = 5
"""Of the event loop, until a signal that was sent before the end is heard and has done its work."""


class ByteReader:
    """Feeds what comes from a file descriptor to `on_data`, and at the end calls `on_end` once."""

    def __init__(self, fd: int, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._fd = fd
        self._on_data = on_data
        self._on_end = on_end
        self._watching = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read."""
        try:
            asyncio.get_running_loop().add_reader(self._fd, self._on_readable)
            self._watching = True
        except (OSError, ValueError, NotImplementedError):
            # A plain file cannot be watched; a closed descriptor has nothing to read.
            self._task = asyncio.ensure_future(self._read_in_thread())

    def stop(self) -> None:
        """Read no more; the end is not reported."""
        if self._watching:
            asyncio.get_running_loop().remove_reader(self._fd)
            self._watching = False
        if self._task is not None:
            self._task.cancel()

    def _on_readable(self) -> None:
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._on_data(data)
        else:
            self.stop()
            self._end_after(_ROUNDS_OF_A_SIGNAL)

    def _end_after(self, rounds: int) -> None:
        if rounds:
            asyncio.get_running_loop().call_soon(self._end_after, rounds - 1)
        else:
            self._on_end()

    async def _read_in_thread(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                data = await loop.run_in_executor(None, os.read, self._fd, _CHUNK)
            except OSError:
                data = b""
            if not data:
                break
            self._on_data(data)
        self._on_end()


async def read_available(fd: int, seconds: float, limit: int) -> bytes | None:
    """Read all of a descriptor that begins to deliver within `seconds`; None if it does not.

    Raises OverflowError for more than `limit` bytes.
    """
    parts: list[bytes] = []
    size = 0
    began, ended = asyncio.Event(), asyncio.Event()

    def take(data: bytes) -> None:
        nonlocal size
        size += len(data)
        parts.append(data)
        began.set()
        if size > limit:
            ended.set()

    def end() -> None:
        began.set()
        ended.set()

    reader = ByteReader(fd, take, end)
    reader.start()
    try:
        await asyncio.wait_for(began.wait(), seconds)
        await ended.wait()
    except (TimeoutError, asyncio.TimeoutError):
        return None
    finally:
        reader.stop()
    if size > limit:
        raise OverflowError(limit)
    return b"".join(parts)
