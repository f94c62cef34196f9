"""Bytes to lines: splits a byte stream on newline bytes, whatever the chunks are."""

from __future__ import annotations

__all__ = ["DEFAULT_LIMIT", "Line", "LineSplitter", "OversizeLine"]

DEFAULT_LIMIT = 64 * 1024 * 1024
"""How many bytes one line may have unless the caller says otherwise."""

_HEAD = 200


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
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[Line]:
        """Take a chunk; return the lines that are complete now."""
        lines: list[Line] = [*chunk.split(b"\n")]
        tail = lines.pop()
        if lines and self._parts:
            lines[0] = self._join(lines[0])
        if tail:
            assert isinstance(tail, bytes)
            self._keep(tail)
        if len(chunk) > self._limit:
            return [self._checked(line) for line in lines]
        return lines

    def finish(self) -> list[Line]:
        """Take the end of the stream; return the last line if it had no newline."""
        return [self._join(b"")] if self._parts else []

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished line have come."""
        return self._size

    def _keep(self, tail: bytes) -> None:
        if self._size <= self._limit:
            self._parts.append(tail)
        self._size += len(tail)
        if self._size > self._limit and len(self._parts) > 1:
            self._parts = [b"".join(self._parts)[:_HEAD]]

    def _join(self, end: Line) -> Line:
        assert isinstance(end, bytes)
        size = self._size + len(end)
        head = b"".join(self._parts)
        self._parts = []
        self._size = 0
        if size > self._limit:
            return OversizeLine(head[:_HEAD], size)
        return head + end

    def _checked(self, line: Line) -> Line:
        if isinstance(line, bytes) and len(line) > self._limit:
            return OversizeLine(line[:_HEAD], len(line))
        return line
