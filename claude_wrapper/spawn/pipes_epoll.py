"""Pipes under Linux: one descriptor tells of output, errors and the exit, without a thread or a task."""

from __future__ import annotations

import contextlib
import os
import subprocess  # noqa: TID251  # processes are started in this package
import sys

from .pipes import CHUNK_BYTES

if sys.platform == "linux":
    import fcntl
    import select

__all__ = ["EpollPipes"]

_PIPE_BYTES = 1024 * 1024

_ERROR_BYTES = 64 * 1024


if sys.platform == "linux":

    class EpollPipes:
        """Watches stdout, stderr and the process with one epoll descriptor."""

        def __init__(self, process: subprocess.Popen[bytes]) -> None:
            assert process.stdout is not None
            assert process.stderr is not None
            self._files = (process.stdout, process.stderr)
            self._output: int | None = process.stdout.fileno()
            self._errors: int | None = process.stderr.fileno()
            self._watching = False
            self.has_exited = False
            self._process = os.pidfd_open(process.pid)
            self._epoll = select.epoll()
            for descriptor in (self._output, self._errors):
                os.set_blocking(descriptor, False)
            with contextlib.suppress(OSError):
                # Refused when the user's pipes have too much memory already; a small one works too.
                fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            self._epoll.register(self._process, select.EPOLLIN)
            self._epoll.register(self._errors, select.EPOLLIN)
            self.waitable = self._epoll.fileno()

        def take_events(self) -> None:
            if self.has_exited:
                return
            for descriptor, _ in self._epoll.poll(0):
                if descriptor == self._process:
                    self.has_exited = True
                    self._epoll.unregister(self._process)

        def watch_output(self, wanted: bool) -> None:
            if wanted is self._watching or self._output is None:
                return
            self._watching = wanted
            if wanted:
                self._epoll.register(self._output, select.EPOLLIN)
            else:
                self._epoll.unregister(self._output)

        def read_output(self) -> bytes | None:
            if self._output is None:
                return b""
            data = _read(self._output, CHUNK_BYTES)
            if data == b"":
                self.watch_output(False)
                self._output = None
            return data

        def read_errors(self) -> bytes | None:
            if self._errors is None:
                return b""
            data = _read(self._errors, _ERROR_BYTES)
            if data == b"":
                self._epoll.unregister(self._errors)
                self._errors = None
            return data

        def close(self) -> None:
            self._output = self._errors = None
            self._epoll.close()
            os.close(self._process)
            for file in self._files:
                file.close()


def _read(descriptor: int, size: int) -> bytes | None:
    try:
        return os.read(descriptor, size)
    except BlockingIOError:
        return None
    except OSError:
        # What cannot be read any more has ended.
        return b""
