"""Bytes to server-sent events: the parser of the stream format, without I/O."""

from __future__ import annotations

from typing import NamedTuple

from .framing import DEFAULT_LIMIT, LineSplitter, OversizeLine

__all__ = ["EventTooLargeError", "ServerEvent", "SseParser"]

_MARK = b"\xef\xbb\xbf"


class ServerEvent(NamedTuple):
    """One event: its name (`message` where the server gave none) and its data."""

    name: str
    data: bytes


class EventTooLargeError(ValueError):
    """A line of the stream is longer than the parser accepts."""


class SseParser:
    """Takes a stream in chunks of any size and gives out the events that are complete.

    Lines may end in LF, CRLF or CR. Comments, ids and retry hints are dropped: streams
    are never resumed, so nothing would use them. An event that the end of the stream cuts
    off is never given out.
    """

    __slots__ = ("_after_cr", "_data", "_lines", "_name", "_started")

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._lines = LineSplitter(limit)
        self._data: list[bytes] = []
        self._name = "message"
        self._after_cr = False
        self._started = False

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take a chunk; return the events it completes."""
        events: list[ServerEvent] = []
        for line in self._lines.feed(self._with_plain_newlines(chunk)):
            if isinstance(line, OversizeLine):
                raise EventTooLargeError(f"the server sent a line of {line.size:,} bytes")
            if not self._started:
                self._started = True
                line = line.removeprefix(_MARK)  # noqa: PLW2901  # a byte order mark may stand before the first line
            if line:
                self._take_field(line)
            else:
                self._complete(events)
        return events

    def _with_plain_newlines(self, chunk: bytes) -> bytes:
        if self._after_cr:
            # The line was ended by the CR already; this LF is the second half of its CRLF.
            self._after_cr = not chunk
            chunk = chunk.removeprefix(b"\n")
        if b"\r" not in chunk:
            return chunk
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _take_field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        elif field == b"event":
            self._name = value.removeprefix(b" ").decode("utf-8", "replace")

    def _complete(self, events: list[ServerEvent]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            events.append(ServerEvent(self._name or "message", data))
            self._data = []
        self._name = "message"
