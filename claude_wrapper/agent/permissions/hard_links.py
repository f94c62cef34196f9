"""Files that have a further name by a hard link, which no resolving of the path shows."""

from __future__ import annotations

# ruff: noqa: PTH116, PTH118
# Paths are texts here, as in all of these modules.
import os
import stat
from collections.abc import Iterable, Iterator

from .ground import Ground
from .path_patterns import literal_places
from .rules import SourcedRule

__all__ = ["rule_by_link"]

_MOST_FILES = 2000
"""And folders, below one that a rule speaks of; looked through for a file that has several names only."""


def rule_by_link(rules: Iterable[SourcedRule], names: tuple[str, ...], ground: Ground) -> SourcedRule | None:
    """The rule that speaks of the same file by another name. Rules that are patterns are not followed."""
    wanted = {identity for name in names if (identity := _identity(name)) is not None}
    if not wanted:
        return None
    for rule in rules:
        for place in literal_places(rule, ground):
            if not wanted.isdisjoint(_identities(place)):
                return rule
    return None


def _identity(path: str) -> tuple[int, int] | None:
    """What tells a file of several names from all others; None for a file that has one name."""
    try:
        facts = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(facts.st_mode) or facts.st_nlink < 2:
        return None
    return facts.st_dev, facts.st_ino


def _identities(place: str) -> Iterator[tuple[int, int]]:
    """Those of a file, or of the files in a folder."""
    own = _identity(place)
    if own is not None:
        yield own
        return
    seen = 0
    for folder, _, names in os.walk(place):
        seen += 1
        if seen > _MOST_FILES:
            return
        for name in names:
            seen += 1
            if seen > _MOST_FILES:
                return
            found = _identity(os.path.join(folder, name))
            if found is not None:
                yield found
