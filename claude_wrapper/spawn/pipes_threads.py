"""Pipes where they cannot be waited for: threads read, and a socket pair tells the event loop."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess  # noqa: TID251  # processes are started in this package
import threading
from collections import deque
from typing import IO

from .pipes import CHUNK_BYTES

__all__ = ["ThreadPipes"]

logger = logging.getLogger("claude_wrapper.spawn")

_LAST_SECONDS = 0.5
"""How long the end of a pipe is waited for once the process has ended."""

_MAX_CHUNKS = 8
"""How many chunks a reader is ahead."""


class _Reader:
    """Reads one pipe in a thread of its own."""

    def __init__(self, pipe: IO[bytes], notify: _Bell) -> None:
        self._pipe = pipe
        self._notify = notify
        self._chunks: deque[bytes] = deque()
        self._room = threading.Semaphore(_MAX_CHUNKS)
        self._thread = threading.Thread(target=self._run, daemon=True, name="claude-wrapper-reader")
        self._thread.start()

    def join(self, timeout: float) -> None:
        """Wait until the end has been read."""
        self._thread.join(timeout)

    def take(self) -> bytes | None:
        """Return the next chunk, b"" at the end, None when there is none yet."""
        if not self._chunks:
            return None
        if self._chunks[0] == b"":
            return b""
        self._room.release()
        return self._chunks.popleft()

    def _run(self) -> None:
        data = b"begin"
        while data:
            self._room.acquire()
            try:
                data = os.read(self._pipe.fileno(), CHUNK_BYTES)
            except (OSError, ValueError):
                data = b""
            self._chunks.append(data)
            self._notify.ring()
        # Only this thread may close what it reads from: a descriptor closed under a reader may become another file's.
        self._pipe.close()


class _Bell:
    """Wakes the event loop from a thread."""

    def __init__(self) -> None:
        self._ringer, self._heard = socket.socketpair()
        self._ringer.setblocking(False)
        self._heard.setblocking(False)
        self.waitable = self._heard.fileno()

    def ring(self) -> None:
        # Full: it has rung already. Closed: nobody listens any more.
        with contextlib.suppress(OSError):
            self._ringer.send(b"!")

    def silence(self) -> None:
        with contextlib.suppress(OSError):
            while self._heard.recv(4096):
                pass

    def close(self) -> None:
        self._ringer.close()
        self._heard.close()


class ThreadPipes:
    """Reads stdout and stderr, and waits for the process, in three threads."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._bell = _Bell()
        self.waitable = self._bell.waitable
        self._output = _Reader(process.stdout, self._bell)
        self._errors = _Reader(process.stderr, self._bell)
        self._ended = threading.Event()
        self.has_exited = False
        threading.Thread(
            target=self._wait, args=(process,), daemon=True, name="claude-wrapper-waiter"
        ).start()

    def take_events(self) -> None:
        self._bell.silence()
        self.has_exited = self._ended.is_set()

    def watch_output(self, wanted: bool) -> None:
        """A bell rings once for what is new, so that there is nothing to switch off."""

    def read_output(self) -> bytes | None:
        return self._output.take()

    def read_errors(self) -> bytes | None:
        return self._errors.take()

    def close(self) -> None:
        self._bell.close()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        # What the process wrote may not have been read yet. What it started may hold its pipes open for ever.
        self._output.join(_LAST_SECONDS)
        self._errors.join(_LAST_SECONDS)
        self._ended.set()
        self._bell.ring()
