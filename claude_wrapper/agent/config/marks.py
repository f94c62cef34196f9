"""By what a file is recognised as the same one with the same content, at the cost of a look."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Mark", "content_of", "mark_of"]

Mark = tuple[int, int, int, int, int] | None
"""None when there is nothing."""


def mark_of(path: str | Path) -> Mark:
    """The mark of a file as it is now; a link's is that of the file it leads to."""
    try:
        facts = os.stat(path)  # noqa: PTH116  # looked at before every call: a Path costs as much as the look
    except (OSError, ValueError):
        return None
    # The time of the last change of any kind cannot be set by those who would hide that they wrote.
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def content_of(mark: Mark) -> tuple[int, ...] | None:
    """The part of a mark that stays the same when only the file's owner or permissions are changed."""
    return None if mark is None else mark[:4]
