"""How much would change between two states of files, in lines."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import field

__all__ = ["Changes", "count_changes"]

_MOST_LINES = 20_000
"""Beyond this many, lines are only counted: finding the least change would take minutes."""


class Changes(msgspec.Struct):
    """The files that would change, and by how much."""

    files: list[str] = field(default_factory=list)
    insertions: int = 0
    deletions: int = 0


def count_changes(wanted: Iterable[tuple[Path, bytes | None]]) -> Changes:
    """Hold the files as they are against what they shall hold; None is no file."""
    changes = Changes()
    for path, after in wanted:
        try:
            before = path.read_bytes()
        except OSError:
            before = None
        if before == after:
            continue
        changes.files.append(str(path))
        added, removed = _lines_changed(before or b"", after or b"")
        changes.insertions += added
        changes.deletions += removed
    return changes


def _lines_changed(before: bytes, after: bytes) -> tuple[int, int]:
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _MOST_LINES:
        return len(new), len(old)
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return len(new) - same, len(old) - same
