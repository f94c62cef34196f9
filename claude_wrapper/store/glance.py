"""Learning what a transcript is about from its beginning and its end, however long it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from .summary import SUMMARY_READER, Facts

__all__ = ["glance"]

_WINDOW = 64 * 1024
"""How far from either end a file is read, in bytes."""

_FAR = 16 * 1024 * 1024
"""How far a file is searched for a first prompt when nothing else says what it is about."""


def glance(path: Path) -> Facts:
    """Return the facts that stand near the two ends of a transcript; raises OSError."""
    facts = Facts()
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = _read(file, facts, 0, _WINDOW)
        _read(file, facts, max(head, size - _WINDOW), size)
        if facts.headline is None and head < size and facts.is_sidechain is not True:
            _search(file, facts, head)
    return facts


def _read(file: BinaryIO, facts: Facts, start: int, stop: int) -> int:
    """Take in the lines that begin between two places; return where the next one begins."""
    place = _next_line(file, start)
    while place < stop and (line := file.readline()):
        place += len(line)
        entry = SUMMARY_READER.line(line)
        if entry is not None:
            facts.take(entry)
    return place


def _search(file: BinaryIO, facts: Facts, start: int) -> None:
    """Look for the first prompt in the part that was passed over."""
    passed = Facts()
    place = _next_line(file, start)
    while place < _FAR and not passed.first_prompt and (line := file.readline()):
        place += len(line)
        entry = SUMMARY_READER.line(line)
        if entry is not None:
            passed.take(entry)
    facts.first_prompt, facts.command_fallback = passed.first_prompt, passed.command_fallback


def _next_line(file: BinaryIO, place: int) -> int:
    """Go to the first line that begins at a place or behind it."""
    if place == 0:
        file.seek(0)
        return 0
    file.seek(place - 1)
    file.readline()
    return file.tell()
