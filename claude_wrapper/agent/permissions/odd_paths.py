"""Paths in shell commands of which the text alone does not say where they lead."""

from __future__ import annotations

import re

from .paths import GLOB_CHARACTERS
from .shell_line import Word
from .wording import pattern_in_change

DOLLAR = "A path holds signs that a shell might fill in"
EXPANDED = "The shell works out what the redirect leads to"
TILDE = "Where a path with the name of a user leads is only known to the shell"
TURNS_BACK = "The path leads into a folder and back out of it, which need not end where it began"

PATTERN_TAKERS = frozenset({"cut", "echo", "expr", "git", "jq", "tr"})
"""Programs whose arguments are texts, not paths."""

_FORMATS = frozenset({"date", "egrep", "fgrep", "git", "grep", "printf", "rg"})
_TURNS_BACK = re.compile(r"(?:\A|/)(?!\.{1,2}/)[^/]+/+\.\.(?:/|\Z)")


def why_odd(path: str) -> str | None:
    """Why a path that a command changes is not to be trusted, or None."""
    if path.startswith("~") and path != "~" and not path.startswith("~/"):
        return TILDE
    if has_dollar(path):
        return DOLLAR
    if GLOB_CHARACTERS.intersection(path):
        return pattern_in_change()
    return TURNS_BACK if turns_back(path) else None


def has_dollar(path: str) -> bool:
    """Whether a shell that saw the path once more would fill something in."""
    return "$" in path or "`" in path


def may_be_filled_in(words: tuple[Word, ...]) -> bool:
    """Whether a command is given quoted signs that its program, or a shell behind it, might fill in."""
    return words[0].literal in _FORMATS and any(
        word.literal == word.value and has_dollar(word.literal) for word in words[1:]
    )


def turns_back(path: str) -> bool:
    """Whether `..` follows the name of a folder, which may be a link."""
    return _TURNS_BACK.search(path) is not None
