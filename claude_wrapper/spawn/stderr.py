"""What an agent writes to stderr: the end of it for errors, its lines for whoever wants them.

Without a callback nothing is shown: an agent's stderr is for people who look into a failure, and
those find its last lines in the error. It is read in any case, so that an agent never waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from claude_wrapper.options import ClaudeAgentOptions

__all__ = ["StderrSink", "line_callback"]

logger = logging.getLogger("claude_wrapper.spawn")

_MAX_LINES = 200
_MAX_LINE_BYTES = 64 * 1024
"""A longer line is given out in pieces, so that one without an end costs no memory."""


class StderrSink:
    """Takes in what is written and keeps its last `limit` bytes."""

    def __init__(self, limit: int, on_line: Callable[[str], None] | None = None) -> None:
        self._limit = limit
        self._on_line = on_line
        self._tail = bytearray()
        self._cut = False
        self._line = bytearray()
        self._failed = False

    @property
    def tail(self) -> str:
        """The last lines, as text."""
        kept = bytes(self._tail[-self._limit :]) if self._limit else b""
        if self._cut or len(self._tail) > self._limit:
            # Begin with a whole line, if there is one.
            kept = kept.partition(b"\n")[2] or kept
        lines = kept.decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-_MAX_LINES:]).strip()

    def feed(self, data: bytes) -> None:
        """Take in some bytes; never raises."""
        self._tail += data
        if len(self._tail) > 2 * self._limit:
            del self._tail[: len(self._tail) - self._limit]
            self._cut = True
        if self._on_line is None:
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._line += line
            self._give_line()
        self._line += rest
        if len(self._line) > _MAX_LINE_BYTES:
            self._give_line()

    def finish(self) -> None:
        """Take in the end; the last line may have no newline."""
        if self._on_line is not None:
            self._give_line()

    def _give_line(self) -> None:
        text = self._line.decode("utf-8", "replace").rstrip()
        self._line.clear()
        if not text or self._on_line is None:
            return
        try:
            self._on_line(text)
        except Exception:
            if not self._failed:
                logger.exception("the stderr callback failed; it is called again for later lines")
            self._failed = True


def line_callback(options: ClaudeAgentOptions) -> Callable[[str], None] | None:
    """Return what is called with each line: the callback, or a writer to `debug_stderr` where that is on."""
    if options.stderr is not None or "debug-to-stderr" not in (options.extra_args or {}):
        return options.stderr
    stream = options.debug_stderr
    if stream is None:
        return None

    def write(line: str) -> None:
        stream.write(line + "\n")
        stream.flush()

    return write
