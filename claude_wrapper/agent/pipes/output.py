"""Writing to stdout: one ordered queue of lines that never makes the event loop wait."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import sys
from collections.abc import Callable
from typing import Any

from claude_wrapper.wire.codec import encode_line

__all__ = ["LineWriter", "open_unshared"]

_GONE = frozenset({errno.EPIPE, errno.ECONNRESET, errno.EBADF, errno.ESHUTDOWN})


class LineWriter:
    """Writes lines to a file descriptor in the order in which they come.

    What the reader has no room for waits in memory; `room` lets the owner of much output wait
    until less than its limit does. A reader that has gone is told once, to `on_closed`; what is
    written afterwards is dropped.
    """

    def __init__(self, fd: int, on_closed: Callable[[], None]) -> None:
        self._fd = fd
        self._on_closed = on_closed
        self._waiting = bytearray()
        self._watching = False
        self._changed = asyncio.Event()
        self.closed = False
        # A file is always ready, and the event loop cannot watch one.
        self._watchable = not stat.S_ISREG(os.fstat(fd).st_mode)

    @property
    def pending(self) -> int:
        """How many bytes wait for the reader."""
        return len(self._waiting)

    def write_frame(self, frame: Any) -> None:
        """Write a frame as one line."""
        self.write(encode_line(frame))

    def write(self, data: bytes) -> None:
        """Write bytes behind all that were written before; never waits."""
        if self.closed:
            return
        if not self._waiting:
            data = data[self._write_some(data) :]
        if data and not self.closed:
            self._waiting += data
            self._watch()

    async def send(self, data: bytes) -> None:
        """`write`, for those who expect to wait."""
        self.write(data)

    async def room(self, limit: int = 0) -> None:
        """Wait until no more than `limit` bytes wait for the reader."""
        while len(self._waiting) > limit and not self.closed:
            self._changed.clear()
            await self._changed.wait()

    def _write_some(self, data: bytes | bytearray) -> int:
        written = 0
        with memoryview(data) as view:
            try:
                while written < len(view):
                    written += os.write(self._fd, view[written:])
            except BlockingIOError:
                return written
            except OSError as error:
                if error.errno not in _GONE:
                    sys.stderr.write(f"Error: stdout cannot be written: {error.strerror}\n")
                self._close()
                return len(view)
        return written

    def _watch(self) -> None:
        if self._watching:
            return
        if self._watchable:
            asyncio.get_running_loop().add_writer(self._fd, self._on_writable)
            self._watching = True
        else:
            asyncio.get_running_loop().call_soon(self._on_writable)

    def _on_writable(self) -> None:
        written = self._write_some(self._waiting)
        del self._waiting[:written]
        if not self._waiting:
            self._unwatch()
        self._changed.set()

    def _unwatch(self) -> None:
        if self._watching:
            asyncio.get_running_loop().remove_writer(self._fd)
            self._watching = False

    def _close(self) -> None:
        self.closed = True
        self._unwatch()
        self._changed.set()
        self._on_closed()


def open_unshared(fd: int) -> int:
    """A descriptor that writes to where `fd` does and never blocks.

    The non-blocking state belongs to the open file, which other programs may share (a terminal, a
    log). A pipe is opened anew, so that only this process sees the change.
    """
    mode = os.fstat(fd).st_mode
    if stat.S_ISFIFO(mode):
        try:
            return os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            os.set_blocking(fd, False)
    elif stat.S_ISSOCK(mode):
        os.set_blocking(fd, False)
    return fd
