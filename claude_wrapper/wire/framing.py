"""Bytes to lines: splits a byte stream on newline bytes, whatever the chunks are."""

from __future__ import annotations

__all__ = ["DEFAULT_LIMIT", "Line", "LineSplitter", "OversizeLine"]

DEFAULT_LIMIT = 64 * 1024 * 1024
"""How many bytes one line may have unless the caller says otherwise."""

_HEAD = 200
_SMALL = 4096
_LONG = 16 * 1024


class OversizeLine:
    """Stands for a line that was longer than the limit and was skipped: its first bytes and its size."""

    __slots__ = ("head", "size")

    def __init__(self, head: bytes, size: int) -> None:
        self.head = head
        self.size = size


Line = bytes | OversizeLine


class LineSplitter:
    """Collects chunks and gives out the lines they complete, without their newline.

    Only the byte 0x0A ends a line: U+2028 and its kin are text. A line over `limit` bytes costs
    that line, not the stream. Chunks of an unfinished line are kept apart and joined once, so
    that a large line costs linear time.
    """

    __slots__ = ("_limit", "_parts", "_size")

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes | bytearray] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[Line]:
        """Take a chunk; return the lines that are complete now."""
        lines, tail = _split(chunk)
        if lines and self._size:
            lines[0] = self._join(lines[0])
        if tail:
            self._keep(tail)
        if len(chunk) > self._limit:
            return [self._checked(line) for line in lines]
        return lines

    def finish(self) -> list[Line]:
        """Take the end of the stream; return the last line if it had no newline."""
        return [self._join(b"")] if self._size else []

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished line have come."""
        return self._size

    def _keep(self, tail: bytes) -> None:
        if self._size > self._limit:
            self._size += len(tail)
            return
        self._size += len(tail)
        if self._size > self._limit:
            # From here on only the head is kept, and what follows is counted.
            self._parts = [b"".join((*self._parts, tail))[:_HEAD]]
        elif len(tail) >= _SMALL:
            self._parts.append(tail)
        elif self._parts and isinstance(self._parts[-1], bytearray):
            # A stream of tiny chunks would otherwise cost an object for each.
            self._parts[-1] += tail
        else:
            self._parts.append(bytearray(tail))

    def _join(self, end: Line) -> Line:
        assert isinstance(end, bytes)
        if self._size <= self._limit:
            self._parts.append(end)
        line = b"".join(self._parts)
        size = self._size + len(end)
        self._parts, self._size = [], 0
        return OversizeLine(line[:_HEAD], size) if size > self._limit else line

    def _checked(self, line: Line) -> Line:
        if isinstance(line, bytes) and len(line) > self._limit:
            return OversizeLine(line[:_HEAD], len(line))
        return line


def _split(chunk: bytes) -> tuple[list[Line], bytes]:
    """Return the lines that end in a chunk, and what follows them.

    `bytes.split` is the fastest for short lines, but it looks at each byte by itself, while `find` and
    `rfind` look at many at once: they take the long pieces at both ends.
    """
    start, end = 0, chunk.find(b"\n")
    if end < 0:
        return [], chunk
    lines: list[Line] = []
    while end - start >= _LONG:
        lines.append(chunk[start:end])
        start = end + 1
        end = chunk.find(b"\n", start)
    if end < 0:
        return lines, chunk[start:]
    last = chunk.rfind(b"\n")
    whole = not start and len(chunk) - last < _LONG
    lines += (chunk if whole else chunk[start:last]).split(b"\n")
    tail = lines.pop() if whole else chunk[last + 1 :]
    assert isinstance(tail, bytes)
    return lines, tail
