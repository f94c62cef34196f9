"""What is wrong with settings, told so that the place can be found."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from claude_wrapper.wire.codec import encode

__all__ = ["Fault", "line_of"]


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong. `place` is a path, or what a flag is called."""

    place: str
    problem: str
    key: str = ""
    line: int = 0

    def __str__(self) -> str:
        where = f"{self.place}:{self.line}" if self.line else self.place
        return f"{where}: {self.key}: {self.problem}" if self.key else f"{where}: {self.problem}"


def line_of(text: str, keys: Sequence[str | int], value: str | None = None) -> int:
    """The line on which a key stands, counted from 1, or a text below that key; 0 when it is not found.

    Good for pointing a person to it: a key of the same name further up may be met first.
    """
    at = 0
    for key in keys:
        if isinstance(key, int):
            continue
        found = re.compile(re.escape(encode(key).decode()) + r"\s*:").search(text, at)
        if found is None:
            return 0
        at = found.start()
    if value is not None:
        below = text.find(encode(value).decode(), at)
        at = at if below < 0 else below
    return text.count("\n", 0, at) + 1
