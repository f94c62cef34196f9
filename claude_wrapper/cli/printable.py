"""Text from outside made safe for a terminal, and the signs that a terminal can show."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Signs", "printable", "signs_for"]

# Control characters but tab and newline, and what reverses the order of what is shown.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return the text with what would steer a terminal written as escapes."""
    return _UNSAFE.sub(lambda match: _escaped(match[0]), text.replace("\r\n", "\n"))


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class Signs(NamedTuple):
    """The signs of the live view."""

    done: str
    failed: str
    spinner: str
    """Its frames, one character each."""
    is_fine: bool
    """Whether the terminal also shows the ellipsis."""


_PLAIN = Signs(done="+", failed="x", spinner="|/-\\", is_fine=False)
_FINE = Signs(done="✓", failed="✗", spinner="⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", is_fine=True)


def signs_for(encoding: str) -> Signs:
    """Return the finest signs that an encoding has."""
    try:
        f"{_FINE.done}{_FINE.failed}{_FINE.spinner}…".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return _PLAIN
    return _FINE
