"""Patterns of files as ignore files write them: `*.py`, `src/**/*.ts`, `{a,b}.md`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

__all__ = ["expanded", "is_below", "is_path"]

_MOST_PATTERNS = 1000
_MOST_CHARACTERS = 4 * 1024 * 1024
_BRACES = re.compile(r"\{([^{}]*)\}")


def expanded(pattern: str) -> list[str]:
    """The patterns that one with braces stands for; nothing where they would be too many."""
    found: list[str] = []
    waiting, size = [pattern], 0
    while waiting:
        each = waiting.pop()
        size += len(each)
        if len(waiting) + len(found) > _MOST_PATTERNS or size > _MOST_CHARACTERS:
            return []
        braces = _BRACES.search(each)
        if braces is None:
            found.append(each)
            continue
        choices = braces[1].split(",")
        waiting += [each[: braces.start()] + choice + each[braces.end() :] for choice in reversed(choices)]
    return found


def is_path(pattern: str, path: str) -> bool:
    """Whether a pattern stands for exactly this path."""
    return len(path.split("/")) in _reached(pattern.split("/"), path.split("/"), {0})


def is_below(pattern: str, path: str) -> bool:
    """Whether a pattern stands for this path or a folder above it; one without a slash does so at any depth."""
    parts = path.split("/")
    pattern = pattern.removesuffix("/**").rstrip("/").removeprefix("./")
    anchored = "/" in pattern
    begins = {0} if anchored else set(range(len(parts)))
    return bool(_reached(pattern.lstrip("/").split("/"), parts, begins) - {0})


def _reached(pattern: Sequence[str], parts: Sequence[str], places: set[int]) -> set[int]:
    """Behind which parts of the path the pattern may end."""
    for piece in pattern:
        if piece == "**":
            places = set(range(min(places), len(parts) + 1))
        else:
            places = {at + 1 for at in places if at < len(parts) and fnmatchcase(parts[at], piece)}
        if not places:
            break
    return places
