"""Writing to a transcript: whole lines, in order, into a file that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from claude_wrapper.wire.codec import encode

from .entries import Entry

__all__ = ["Draft", "Mirror", "TranscriptWriter", "append_to", "write_new"]

_AS_IT_IS: int = getattr(os, "O_BINARY", 0)
"""Keeps Windows from making two characters of a newline."""

Mirror = Callable[[Path, list[bytes]], None]
"""Told of every line that was written: the file, and the lines without their newline."""


_ROOM = 384
"""Blanks at the end of a draft, which JSON allows there, for what it may grow by."""


@dataclass
class Draft:
    """A line that is written and whose final text is not known yet."""

    entry: Entry
    offset: int | None
    """Where it begins; None when it could not be written in one piece."""
    line: bytes
    told: bool = False
    """Whether the mirror has it."""


class TranscriptWriter:
    """Appends entries to one transcript.

    A line is with the operating system when `append` returns, so that it survives the death of
    this process. The file and its folders are made at the first line. Once writing fails (a full
    disk, a folder that cannot be made) the error is kept, and later lines are tried all the same.
    """

    def __init__(self, path: Path, mirror: Mirror | None = None) -> None:
        self.path = path
        self.failure: OSError | None = None
        self._mirror = mirror
        self._file: int | None = None
        self._drafts: list[Draft] = []

    def beside(self, session_id: str) -> TranscriptWriter:
        """A writer of another session in the same folder, in the place of this one."""
        self.close()
        return TranscriptWriter(self.path.with_name(f"{session_id}.jsonl"), self._mirror)

    def another(self, path: Path) -> TranscriptWriter:
        """A writer of another file, of which the same mirror is told."""
        return TranscriptWriter(path, self._mirror)

    def append(self, entries: Sequence[Entry | dict[str, Any]]) -> None:
        """Write entries as lines, in one write."""
        self._tell_drafts()
        lines = [encode(entry) for entry in entries]
        self._write(b"\n".join([*lines, b""]))
        if self._mirror is not None:
            self._mirror(self.path, lines)

    def draft(self, entry: Entry) -> None:
        """Write an entry that `settle` will make final; the mirror need not know of it before."""
        line = encode(entry) + b" " * _ROOM
        end = self._write(line + b"\n")
        self._drafts.append(Draft(entry, None if end is None else end - len(line) - 1, line))

    def settle(self) -> bool:
        """Put the entries of all drafts, as they are now, in the place of the drafts; False if not all fit."""
        drafts, self._drafts = self._drafts, []
        lines = [encode(draft.entry) for draft in drafts]
        fit = True
        try:
            with self.path.open("r+b", buffering=0) as file:
                for draft, line in zip(drafts, lines, strict=True):
                    fit = _replace(file, draft, line) and fit
        except OSError:
            fit = False
        untold = [line for draft, line in zip(drafts, lines, strict=True) if not draft.told]
        if untold and self._mirror is not None:
            self._mirror(self.path, untold)
        return fit and len(untold) == len(drafts)

    @property
    def has_drafts(self) -> bool:
        """Whether anything is to be settled."""
        return bool(self._drafts)

    def _tell_drafts(self) -> None:
        """What comes next hangs on the drafts: the mirror gets them as they are."""
        untold = [draft for draft in self._drafts if not draft.told]
        for draft in untold:
            draft.told = True
        if untold and self._mirror is not None:
            self._mirror(self.path, [encode(draft.entry) for draft in untold])

    def _write(self, data: bytes) -> int | None:
        """Write behind everything else; returns where the file ends then."""
        try:
            if self._file is None:
                self._file = _open_private(self.path)
            whole = _write_all(self._file, data)
            return os.lseek(self._file, 0, os.SEEK_CUR) if whole else None
        except OSError as error:
            self.failure = self.failure or error
            return None

    def close(self) -> None:
        """Close the file; a later `append` opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _replace(file: BinaryIO, draft: Draft, line: bytes) -> bool:
    """Write the line over the draft, unless it is longer, or something else is there by now."""
    if draft.offset is None or len(line) > len(draft.line):
        return False
    file.seek(draft.offset)
    if file.read(len(draft.line)) != draft.line:
        return False
    file.seek(draft.offset)
    file.write(line.ljust(len(draft.line)))
    return True


def append_to(path: Path, entry: Entry | dict[str, Any]) -> None:
    """Write one entry behind those that a transcript has; raises OSError."""
    writer = TranscriptWriter(path)
    writer.append([entry])
    writer.close()
    if writer.failure is not None:
        raise writer.failure


def write_new(path: Path, entries: Iterable[dict[str, Any]]) -> None:
    """Write a transcript that is there whole or not at all; raises OSError."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_IT_IS, 0o600)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.writelines(encode(entry) + b"\n" for entry in entries)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink()
        raise


def _open_private(path: Path) -> int:
    _make_private_folders(path.parent)
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _AS_IT_IS, 0o600)
    if os.fstat(file).st_size:
        os.lseek(file, -1, os.SEEK_END)
        if os.read(file, 1) != b"\n":
            # The last writer died in the middle of a line: that line is lost, ours must not be.
            os.write(file, b"\n")
    return file


def _make_private_folders(folder: Path) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _write_all(file: int, data: bytes) -> bool:
    """Write everything; returns whether it went in one piece."""
    pieces = 0
    while data:
        data = data[os.write(file, data) :]
        pieces += 1
    return pieces == 1
