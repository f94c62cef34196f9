"""What a Bash(...) rule says about the text of one command."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """Literal pieces with anything between them; a single piece is the whole text."""

    pieces: tuple[str, ...]
    word_end: bool = False
    """The last piece ends at a word: nothing follows, or white space and then anything."""

    @property
    def exact(self) -> bool:
        """Whether the rule names one text only."""
        return len(self.pieces) == 1 and not self.word_end

    def matches(self, text: str) -> bool:
        """Whether the text is one that the rule names."""
        first, *middle = self.pieces
        if not text.startswith(first):
            return False
        if self.word_end:
            return self._matches_to_word(text, len(first), middle)
        if not middle:
            return text == first
        at = len(first)
        for piece in middle[:-1]:
            found = text.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return len(text) - len(middle[-1]) >= at and text.endswith(middle[-1])

    def _matches_to_word(self, text: str, at: int, rest: list[str]) -> bool:
        if not rest:
            return at == len(text) or text[at].isspace()
        for piece in rest[:-1]:
            found = text.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        while (found := text.find(rest[-1], at)) >= 0:
            end = found + len(rest[-1])
            if end == len(text) or text[end].isspace():
                return True
            at = found + 1
        return False


@lru_cache(maxsize=1024)
def command_pattern(content: str) -> CommandPattern:
    """Read the content of a rule: `npm run test`, `npm run:*`, `git * main`, `ls*`."""
    text = content.strip()
    if text.endswith(":*"):
        return CommandPattern(_pieces(text[:-2].rstrip()), word_end=True)
    if text.endswith(" *"):
        return CommandPattern(_pieces(text[:-2].rstrip()), word_end=True)
    return CommandPattern(_pieces(text))


def _pieces(text: str) -> tuple[str, ...]:
    """The text cut at its stars; one behind a backslash is meant as a star."""
    pieces = [""]
    at = 0
    while at < len(text):
        if text.startswith("\\*", at):
            pieces[-1] += "*"
            at += 1
        elif text[at] == "*":
            pieces.append("")
        else:
            pieces[-1] += text[at]
        at += 1
    return tuple(pieces)
