"""What a shell command line consists of, once it is taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NEEDS_NO_QUOTES = re.compile(r"[\w@%+=:,./^!\[\]?*~#-]+\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    raw: str
    literal: str
    """With quotes and escapes taken away; expansions stand as they were written."""
    value: str | None
    """What the program will be given, if that is known before it runs."""
    is_glob: bool = False
    variable: str | None = None
    """The variable that alone makes up the word."""

    @property
    def plain(self) -> str:
        """As it would be written without needless quotes."""
        if self.value is not None and self.literal == self.value and _NEEDS_NO_QUOTES.match(self.literal):
            return self.literal
        return self.raw


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable set before a command or on its own."""

    raw: str
    name: str
    value: Word | None


@dataclass(frozen=True, slots=True)
class Redirect:
    """A stream of a command led to or from a file."""

    operator: str
    target: Word
    part: int = 0
    """Which of the line's commands it belongs to."""

    @property
    def writes(self) -> bool:
        """Whether the file is written to."""
        return self.operator not in {"<", "<<<"}


@dataclass(frozen=True, slots=True)
class Command:
    """One program with its arguments, as it stands in the line."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    source: str = ""
    """As it stands in the line, without redirects; empty if that takes more than one line."""
    segment: int = 0
    """How many pipes stand before it."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words without their quotes."""
        return tuple(word.literal for word in self.words)

    @property
    def written(self) -> str:
        """The command as it was written."""
        return self.source or self.raw

    @property
    def raw(self) -> str:
        """The command as it was written, with single spaces between its words."""
        return " ".join([*(item.raw for item in self.assignments), *(word.raw for word in self.words)])


@dataclass(frozen=True, slots=True)
class ShellLine:
    """Everything that a command line would run, wherever it stands in the line."""

    text: str
    commands: tuple[Command, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    """Those that stand on their own and so outlive their command."""
    documents: tuple[str, ...] = ()
    """Texts given to a command as its input: here-documents and here-strings."""
    filled_in: tuple[str, ...] = ()
    """Those here-documents in which the shell replaces variables and substitutions."""
    unchecked: str | None = None
    """Why the line may do more than its commands show; None: what it shows is all it does."""
    only_grouped: bool = False
    """What stands in the way of a check is nothing but a group of commands in parentheses."""
    runs_behind: bool = False
    """Some command is left running in the background."""
    only_behind: bool = False
    """That alone stands in the way of a check."""
    understood: bool = True
    """False if it is not a command line at all, as far as we can tell."""
