"""Reading the lines of a transcript into structs, however broken a line or an entry may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

import msgspec

from claude_wrapper.wire.codec import UNREADABLE, clean_json

__all__ = ["EntryLines", "EntryReader", "FileLines", "Lines", "Reader", "WholeReader", "read_file"]

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
T_co = TypeVar("T_co", covariant=True)


class Reader(Protocol[T_co]):
    """Makes something of a line, or of the entry that a line stands for."""

    def line(self, line: bytes, /) -> T_co | None:
        """Read one line of a file; None for what is none."""

    def entry(self, entry: Any, /) -> T_co | None:
        """Read one entry of a store; None for what is none."""


class EntryReader(Generic[S]):
    """Reads lines, or decoded entries, into a struct all of whose fields have defaults.

    A field of a wrong type is left out, text that is no text is replaced; what is no JSON object is
    None. Nothing raises.
    """

    def __init__(self, struct: type[S]) -> None:
        self._struct = struct
        self._strict = msgspec.json.Decoder(struct).decode
        self._raw = msgspec.json.Decoder(dict[str, Any]).decode

    def line(self, line: bytes) -> S | None:
        """Read one line of a file."""
        try:
            return self._strict(line)
        except UNREADABLE:
            return self.entry(_object(self._raw, line))

    def entry(self, entry: Any) -> S | None:
        """Read one entry of a store."""
        try:
            return msgspec.convert(entry, self._struct)
        except (msgspec.ValidationError, RecursionError):
            return self._fitting(entry) if isinstance(entry, dict) else None

    def _fitting(self, entry: dict[str, Any]) -> S:
        values: dict[str, Any] = {}
        for field in msgspec.structs.fields(self._struct):
            if field.encode_name in entry:
                try:
                    values[field.name] = msgspec.convert(entry[field.encode_name], field.type)
                except (msgspec.ValidationError, RecursionError):
                    continue
        return self._struct(**values)


class WholeReader:
    """Reads entries as they are; `values` is what the values of lines become: Raw leaves them as JSON."""

    def __init__(self, values: Any = msgspec.Raw) -> None:
        self._raw = msgspec.json.Decoder(dict[str, values]).decode

    def line(self, line: bytes) -> dict[str, Any] | None:
        """Read one line of a file."""
        return _object(self._raw, line)

    def entry(self, entry: Any) -> dict[str, Any] | None:
        """Copy one entry of a store."""
        return dict(entry) if isinstance(entry, dict) else None


class Lines(Protocol):
    """The lines of one transcript: all in order, and any one again."""

    def read(self, reader: Reader[T]) -> Iterator[tuple[int, T]]:
        """Yield what can be read, with its place."""

    def get(self, place: int, reader: Reader[T]) -> T | None:
        """Read what is at a place again; None when it is no longer there."""


class FileLines:
    """The lines of a file, of which only the one that is read is held."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("rb")

    def __enter__(self) -> FileLines:  # noqa: PYI034  # typing.Self is newer than 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self, reader: Reader[T]) -> Iterator[tuple[int, T]]:
        self._file.seek(0)
        place = 0
        for line in self._file:
            entry = reader.line(line)
            if entry is not None:
                yield place, entry
            place += len(line)

    def get(self, place: int, reader: Reader[T]) -> T | None:
        self._file.seek(place)
        return reader.line(self._file.readline())


class EntryLines:
    """The entries that a store has loaded."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self._entries = entries

    def read(self, reader: Reader[T]) -> Iterator[tuple[int, T]]:
        for place, raw in enumerate(self._entries):
            entry = reader.entry(raw)
            if entry is not None:
                yield place, entry

    def get(self, place: int, reader: Reader[T]) -> T | None:
        return reader.entry(self._entries[place])


def read_file(path: Path, reader: Reader[T]) -> Iterator[tuple[bytes, T]]:
    """Yield the lines of a file that can be read, as they are and as entries."""
    with path.open("rb") as file:
        for line in file:
            entry = reader.line(line)
            if entry is not None:
                yield line, entry


def _object(decode: Callable[[bytes], dict[str, Any]], line: bytes) -> dict[str, Any] | None:
    """Decode an object; the second time without what is no text."""
    try:
        return decode(line)
    except UNREADABLE:
        pass
    try:
        return decode(clean_json(line))
    except UNREADABLE:
        return None
