"""A text file as the model sees it, and how its bytes come back in the same encoding."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["NotRegularError", "TextFile", "clean", "decode", "opened", "read_bytes"]

_BOM_UTF16_LE = b"\xff\xfe"
_BOM_UTF16_BE = b"\xfe\xff"
_SNIFFED = 8192


class NotRegularError(OSError):
    """The path names a device, a pipe or a socket."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """Decoded text; a byte order mark stays its first character, line endings stay as they are."""

    text: str
    encoding: str
    flaw: str | None = None
    """Why these bytes cannot be written back after a change: "binary", "encoding" or None."""

    def encode(self, text: str) -> bytes:
        """The bytes of changed text."""
        return clean(text).encode(self.encoding)


def clean(text: str) -> str:
    """The text with halves of surrogate pairs joined where they meet and replaced where they are alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def decode(data: bytes) -> TextFile:
    """Text in UTF-8 or, behind its mark, UTF-16; anything else is shown as well as it can be."""
    for mark, encoding in ((_BOM_UTF16_LE, "utf-16-le"), (_BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            try:
                return TextFile(data.decode(encoding), encoding)
            except UnicodeDecodeError:
                return TextFile(data.decode(encoding, "replace"), encoding, "encoding")
    flaw = "binary" if b"\0" in data[:_SNIFFED] else None
    try:
        return TextFile(data.decode(), "utf-8", flaw)
    except UnicodeDecodeError:
        return TextFile(data.decode("utf-8", "replace"), "utf-8", flaw or "encoding")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[tuple[io.FileIO, os.stat_result]]:
    """A regular file open for reading, and the state of exactly the file that is open.

    The path is resolved now and its last step must then not be a link: a link put there
    between the two is refused, not followed. A pipe is refused before it can block.
    """
    real = os.path.realpath(path)
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_CLOEXEC", 0)
    )
    descriptor = os.open(real, flags)
    with io.FileIO(descriptor, "r") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise NotRegularError(errno.EINVAL, "not a regular file", str(path))
        yield file, state


def read_bytes(path: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """All bytes of a regular file, or none if there are more than `limit`."""
    with opened(path) as (file, state):
        return b"" if state.st_size > limit else file.readall(), state
