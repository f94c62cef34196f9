"""Takes a range of lines out of a text file, of any size, in one pass over it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Protocol

from .ledger import digest_of, new_digest

__all__ = ["Page", "PageTooLargeError", "read_page"]

_CHUNK = 1 << 18
_SNIFFED = 8192
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_BYTES_PER_CHARACTER = 4


class PageTooLargeError(Exception):
    """The wanted lines take more characters than may be shown; the argument says how many, at least."""

    def __init__(self, characters: int) -> None:
        super().__init__(characters)
        self.characters = characters


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes | None: ...


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a file, ready to be shown."""

    lines: list[str]
    start: int
    total: int
    """Lines of the whole file; text after the last newline counts as one, even when empty."""
    digest: bytes
    """Fingerprint of the whole file's bytes."""
    cut: bool
    """The page ends early because there would be too much."""
    flaw: str | None
    """What is wrong with the file as text: "binary", "encoding" or None."""

    @property
    def complete(self) -> bool:
        return not self.cut and len(self.lines) == self.total

    def numbered(self) -> str:
        return "\n".join(f"{number}\t{line}" for number, line in enumerate(self.lines, self.start))


def read_page(file: io.FileIO, start: int, count: int | None, max_characters: int, *, may_cut: bool) -> Page:
    """Lines from number `start` on, `count` of them or all; too many are cut or raise PageTooLargeError."""
    head = file.read(2) or b""
    file.seek(0)
    source: _Readable = file
    digest: bytes | None = None
    encoding = _UTF16.get(head)
    flaw = None
    if encoding is not None:
        data = file.readall()
        digest = digest_of(data)
        text = data.decode(encoding, "replace")
        flaw = "encoding" if len(data) % 2 else None
        source = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    scan = _Scan(start, count, max_characters * _BYTES_PER_CHARACTER)
    scan.run(source)
    lines, undecodable = _decoded(scan)
    if flaw is None:
        flaw = "binary" if scan.has_nul else "encoding" if undecodable else None
    lines, cut = _fitted(lines, start, max_characters, may_cut=may_cut)
    return Page(lines, start, scan.total, digest or scan.digest.digest(), cut or scan.overflowed, flaw)


class _Scan:
    """One pass: counts the lines, fingerprints the bytes and keeps those that are wanted."""

    def __init__(self, start: int, count: int | None, max_bytes: int) -> None:
        self.start = start
        self.end = None if count is None else start + count
        self.max_bytes = max_bytes
        self.kept = bytearray()
        self.total = 1
        self.digest = new_digest()
        self.has_nul = False
        self.overflowed = False

    def run(self, source: _Readable) -> None:
        seen = 0
        while chunk := source.read(_CHUNK):
            if seen < _SNIFFED:
                self.has_nul = self.has_nul or b"\0" in chunk[: _SNIFFED - seen]
            seen += len(chunk)
            self.digest.update(chunk)
            self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        line, newlines = self.total, chunk.count(b"\n")
        self.total += newlines
        if self.overflowed or self.total < self.start or (self.end is not None and line >= self.end):
            return
        first, last = 0, len(chunk)
        if line < self.start:
            first = _after_newlines(chunk, self.start - line)
        if self.end is not None and self.total >= self.end:
            last = _after_newlines(chunk, self.end - line) - 1
        self.kept += chunk[first:last]
        if len(self.kept) > self.max_bytes:
            del self.kept[self.max_bytes :]
            self.overflowed = True


def _after_newlines(chunk: bytes, count: int) -> int:
    position = 0
    for _ in range(count):
        position = chunk.index(b"\n", position) + 1
    return position


def _decoded(scan: _Scan) -> tuple[list[str], bool]:
    """The kept lines as text, and whether some bytes were no UTF-8."""
    if scan.start > scan.total:
        return [], False
    data = bytes(scan.kept)
    try:
        text, undecodable = data.decode("utf-8", "strict"), False
    except UnicodeDecodeError as error:
        # Half a character at a place where we cut is our doing, not the file's.
        ours = scan.overflowed and error.start >= len(data) - _BYTES_PER_CHARACTER
        text, undecodable = data.decode("utf-8", "ignore" if ours else "replace"), not ours
    if scan.start == 1:
        text = text.removeprefix("\ufeff")
    return [line.removesuffix("\r") for line in text.split("\n")], undecodable


def _fitted(lines: list[str], start: int, max_characters: int, *, may_cut: bool) -> tuple[list[str], bool]:
    size = 0
    for index, line in enumerate(lines):
        size += len(str(start + index)) + len(line) + 2
        if size <= max_characters:
            continue
        if not may_cut:
            raise PageTooLargeError(sum(map(len, lines)))
        return (lines[:index] if index else [line[:max_characters]]), True
    return lines, False
