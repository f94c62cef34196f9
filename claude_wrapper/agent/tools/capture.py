"""Takes in a command's output of any size: the beginning in memory, all of it in a file once it is long."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Capture", "Captured", "OutputLimitError"]

_BYTES_PER_CHARACTER = 4
_TAIL = 40_000
_LEADING_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


class OutputLimitError(Exception):
    """The command writes more than any disk should take."""


@dataclass(frozen=True, slots=True)
class Captured:
    """Finished output as text, blank lines around it taken off."""

    text: str
    """All of it, or as much of the beginning as fits into the conversation."""
    tail: str
    """The end, when `text` is not all."""
    size: int
    """Bytes in all."""
    saved: Path | None
    """The file with all of it, when `text` is not all."""


class Capture:
    """Fed with chunks as they come; `finish` gives the result."""

    def __init__(self, folder: Path, most_inline: int, most_bytes: int) -> None:
        self._folder = folder
        self._most_inline = most_inline
        self._most_bytes = most_bytes
        self._head = bytearray()
        self._size = 0
        self._file: int | None = None
        self._path: Path | None = None

    def feed(self, data: bytes) -> None:
        """More output; raises OutputLimitError when it is too much."""
        self._size += len(data)
        if self._file is not None:
            self._append(data)
        elif self._path is None:
            self._head += data
            if len(self._head) > self._most_inline * _BYTES_PER_CHARACTER:
                self._save_head()
        if self._size > self._most_bytes:
            raise OutputLimitError

    def finish(self) -> Captured:
        """The output as far as it came; the file, if there is one, is complete."""
        text = _stripped(_decoded(self._head))
        if len(text) > self._most_inline and self._path is None:
            self._save_head()
        if self._path is None:
            return Captured(text, "", self._size, None)
        tail = _stripped(self._read_tail()) if self._file is not None else ""
        saved = self._path if self._file is not None else None
        self._close()
        return Captured(text[: self._most_inline].rstrip(), tail, self._size, saved)

    def move_to(self, path: Path) -> Path:
        """From now on all output goes to a file, that is to `path` if it is no file yet; where it is.

        Raises OSError.
        """
        if self._file is not None and self._path is not None:
            try:
                path.symlink_to(self._path)
            except OSError:
                return self._path
            return path
        if self._path is not None:
            raise OSError("the output could not be kept")
        self._open(path)
        self._append(bytes(self._head))
        if self._file is None:
            raise OSError("the disk is full")
        return path

    def so_far(self, most: int) -> tuple[str, int, bool]:
        """The end of the output as it is now, how many bytes there are, and whether the beginning is left out."""
        data = bytes(self._head)
        if self._file is not None:
            size = os.lseek(self._file, 0, os.SEEK_END)
            data = os.pread(self._file, most, max(0, size - most))
        return data[-most:].decode("utf-8", "replace"), self._size, self._size > most

    def text_so_far(self) -> str:
        """As much of the beginning as fits into the conversation."""
        return _stripped(_decoded(self._head))[: self._most_inline]

    def end_file(self, last: str) -> None:
        """The output is complete; `last` is written below it."""
        if self._file is not None:
            data = last.encode()
            self._size += len(data)
            self._append(data)
            self._close()

    def discard(self) -> None:
        """Nobody wants the output: forget it, and take nothing more."""
        self._drop_file()
        self._path = self._folder  # as after a failed write: what comes later goes nowhere
        self._head.clear()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _save_head(self) -> None:
        self._path = self._folder / f"b{os.urandom(4).hex()}.txt"
        with contextlib.suppress(OSError):  # without a file the beginning must do
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._open(self._path)
            self._append(bytes(self._head))

    def _open(self, path: Path) -> None:
        """Make the file, which must not be there, for nobody else to read; raises OSError."""
        flags = (
            os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        )
        self._path, self._file = path, os.open(path, flags, 0o600)

    def _append(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view and self._file is not None:
                view = view[os.write(self._file, view) :]
        except OSError:  # the disk is full: half a file would be taken for all of it
            self._drop_file()

    def _drop_file(self) -> None:
        if self._file is not None and self._path is not None:
            self._close()
            self._path.unlink(missing_ok=True)

    def _read_tail(self) -> str:
        assert self._file is not None
        size = os.lseek(self._file, 0, os.SEEK_END)
        return os.pread(self._file, _TAIL, max(0, size - _TAIL)).decode("utf-8", "replace")


def _decoded(data: bytearray) -> str:
    """Text of the beginning; a character that is cut at its end is left away."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(data))


def _stripped(text: str) -> str:
    return _LEADING_BLANK_LINES.sub("", text).rstrip()
