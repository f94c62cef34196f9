"""Writing to an agent's stdin where a pipe cannot be waited for: one thread at a time writes."""

from __future__ import annotations

import contextlib
import os
import subprocess  # noqa: TID251  # processes are started in this package
import threading

import anyio
from anyio import to_thread

from claude_wrapper.errors import CLIConnectionError

__all__ = ["ThreadedInput"]


class ThreadedInput:
    """The end of stdin that is ours."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        self._file = process.stdin
        self._turn = anyio.CapacityLimiter(1)
        self._writing = threading.Lock()
        self._closed = False

    async def send(self, data: bytes) -> None:
        # A sender that is cancelled leaves its thread to finish the frame; the next one waits for that.
        await to_thread.run_sync(self._write, data, abandon_on_cancel=True, limiter=self._turn)

    async def close(self) -> None:
        await to_thread.run_sync(self._close_after_writing, abandon_on_cancel=True, limiter=self._turn)

    def close_now(self) -> None:
        self._closed = True
        # A thread that is writing closes it when its write fails or ends; the file must not go under it.
        if self._writing.acquire(blocking=False):
            try:
                self._close_file()
            finally:
                self._writing.release()

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        with self._writing:
            try:
                while rest:
                    if self._closed:
                        raise CLIConnectionError("The agent's input has been closed")
                    rest = rest[os.write(self._file.fileno(), rest[: 64 * 1024]) :]
            except (OSError, ValueError) as error:
                raise CLIConnectionError(f"The agent takes no more input: {error}") from error
            finally:
                if self._closed:
                    self._close_file()

    def _close_after_writing(self) -> None:
        with self._writing:
            self._closed = True
            self._close_file()

    def _close_file(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
