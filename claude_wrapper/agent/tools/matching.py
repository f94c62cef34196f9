"""Finds the text that an edit wants replaced and replaces it, leaving every other character as it was."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

__all__ = ["Replacement", "find", "with_lf"]

_STRAIGHT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_OPENING_AFTER = frozenset(" \t\r\n([{-\u2013\u2014\u2018\u201c")


def with_lf(text: str) -> str:
    """The text as models see and write it, lines ended by LF alone."""
    return text.replace("\r\n", "\n") if "\r\n" in text else text


@dataclass(frozen=True, slots=True)
class Replacement:
    """Where the wanted text stands, as offsets into the LF view, and what goes there."""

    text: str
    """The whole text, its line endings as in the file."""
    view: str
    """The same with LF."""
    starts: list[int]
    length: int
    new: str

    @property
    def found(self) -> str:
        """The text as it really stands in the file."""
        return self.view[self.starts[0] : self.starts[0] + self.length]

    def apply(self) -> str:
        """The whole text with all places replaced; new lines end like the replaced ones, or like most of the file."""
        ends = _crlf_positions(self.text)
        usual = "\r\n" if 2 * len(ends) >= self.text.count("\n") else "\n"
        parts: list[str] = []
        position = 0
        for start in self.starts:
            stop = start + self.length
            begin, end = start + bisect_left(ends, start), stop + bisect_left(ends, stop)
            parts.append(self.text[position:begin])
            parts.append(_with_endings_of(self.text[begin:end], self.new, usual) if ends else self.new)
            position = end
        parts.append(self.text[position:])
        return "".join(parts)


def find(text: str, old: str, new: str) -> Replacement:
    """All places of `old`, exactly; failing that, with typographic quotes taken for plain ones."""
    view, old = with_lf(text), with_lf(old)
    starts = _places(view, old)
    if not starts:
        starts = _places(view.translate(_STRAIGHT), old.translate(_STRAIGHT))
        if starts:
            new = _with_quotes_of(view[starts[0] : starts[0] + len(old)], new)
    return Replacement(text, view, starts, len(old), new)


def _places(text: str, wanted: str) -> list[int]:
    starts: list[int] = []
    position = text.find(wanted)
    while position >= 0:
        starts.append(position)
        position = text.find(wanted, position + len(wanted))
    return starts


def _crlf_positions(text: str) -> list[int]:
    """Where in the LF view the line ends are that take two characters in the file."""
    return [match.start() - index for index, match in enumerate(re.finditer("\r\n", text))]


def _with_endings_of(old: str, new: str, usual: str) -> str:
    """The new text; its first line ends like the first one of the old, and so on, more lines like the last."""
    endings = re.findall("\r?\n", old) or [usual]
    lines = with_lf(new).split("\n")
    ended = [line + endings[min(index, len(endings) - 1)] for index, line in enumerate(lines[:-1])]
    return "".join([*ended, lines[-1]])


def _with_quotes_of(found: str, new: str) -> str:
    """Plain quotes of the new text in the typographic style of the text they replace."""
    if "\u201c" in found or "\u201d" in found:
        new = re.sub('"', lambda match: "\u201c" if _opens(match) else "\u201d", new)
    if "\u2018" in found or "\u2019" in found:
        new = re.sub("'", lambda match: "\u2018" if _opens(match) else "\u2019", new)
    return new


def _opens(match: re.Match[str]) -> bool:
    return match.start() == 0 or match.string[match.start() - 1] in _OPENING_AFTER
