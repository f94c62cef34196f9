"""Writing to an agent's stdin on POSIX systems, without ever blocking the event loop."""

from __future__ import annotations

import contextlib
import os
import subprocess  # noqa: TID251  # processes are started in this package
import sys

import anyio

from claude_wrapper.errors import CLIConnectionError

__all__ = ["NonblockingInput"]

_NOTHING = memoryview(b"")


if sys.platform != "win32":

    class NonblockingInput:
        """The end of stdin that is ours."""

        def __init__(self, process: subprocess.Popen[bytes]) -> None:
            assert process.stdin is not None
            self._file = process.stdin
            self._descriptor = process.stdin.fileno()
            os.set_blocking(self._descriptor, False)
            self._lock = anyio.Lock()
            self._rest = _NOTHING
            """What a cancelled sender left of its frame: half a frame would spoil all that follow."""
            self._closed = False

        async def send(self, data: bytes) -> None:
            async with self._lock:
                if self._rest:
                    await self._write(self._rest, begun=True)
                await self._write(memoryview(data), begun=False)

        async def close(self) -> None:
            async with self._lock:
                if self._rest and not self._closed:
                    with contextlib.suppress(CLIConnectionError):
                        await self._write(self._rest, begun=True)
                self.close_now()

        def close_now(self) -> None:
            if not self._closed:
                self._closed = True
                anyio.notify_closing(self._descriptor)
                self._file.close()

        async def _write(self, data: memoryview, *, begun: bool) -> None:
            while True:
                written = self._write_some(data)
                data = data[written:]
                begun = begun or written > 0
                self._rest = data if begun else _NOTHING
                if not data:
                    return
                try:
                    await anyio.wait_writable(self._descriptor)
                except anyio.ClosedResourceError as error:
                    raise CLIConnectionError("The agent's input has been closed") from error

        def _write_some(self, data: memoryview) -> int:
            if self._closed:
                raise CLIConnectionError("The agent's input has been closed")
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:
                return 0
            except OSError as error:
                raise CLIConnectionError(f"The agent takes no more input: {error.strerror}") from error
