"""Removing what is left of sessions that nobody has gone on with for a long time."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_wrapper.agent.config.places import SettingsPlaces
from claude_wrapper.agent.config.reading import read_settings
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.store.paths import config_dir, is_session_id

__all__ = ["days_to_keep", "sweep"]

_USUAL_DAYS = 30
_DAY = 86400.0
_ENDING = ".jsonl"
_logger = logging.getLogger("claude_wrapper.agent")


def days_to_keep(settings: Settings) -> int | None:
    """How long the user wants old sessions kept; None where that is not known, so that nothing is removed."""
    if settings.skipped or not settings.session.persist:
        # Of a file that was not understood nobody knows what it says about this.
        return None
    path = SettingsPlaces(settings.environ, settings.cwd).path("userSettings")
    assert path is not None
    # The user's wish counts, too, where a run is told not to read the user's settings.
    reading = read_settings(path)
    if reading.fault is not None:
        return None
    wishes = [_days(settings.values), _days(reading.values or {})]
    known = [days for days in wishes if days is not None]
    return max(known) if known else _USUAL_DAYS


def _days(values: Any) -> int | None:
    days = values.get("cleanupPeriodDays")
    return days if isinstance(days, int) and not isinstance(days, bool) and days > 0 else None


def sweep(settings: Settings, days: int, session_id: str, now: float | None = None) -> int:
    """Remove transcripts, and what belongs to them, that are older; how many files went."""
    before = (time.time() if now is None else now) - days * _DAY
    removed = 0
    for project in _folders(config_dir(settings.environ) / "projects"):
        for entry in _entries(project):
            name = entry.name.removesuffix(_ENDING)
            if name == session_id:
                continue
            if entry.is_dir(follow_symlinks=False):
                removed += _sweep_folder(Path(entry.path), before) if is_session_id(name) else 0
            elif entry.name.endswith(_ENDING):
                removed += _remove(entry, before)
    if removed:
        _logger.debug("%d files of old sessions were removed", removed)
    return removed


def _sweep_folder(folder: Path, before: float) -> int:
    """Remove old files of a session's own folder, and the folder once it is empty. Links are not followed."""
    removed = 0
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            removed += _sweep_folder(Path(entry.path), before)
        else:
            removed += _remove(entry, before)
    if removed:
        try:
            folder.rmdir()
        except OSError:
            _logger.debug("%s is kept: something in it is in use", folder)
    return removed


def _remove(entry: os.DirEntry[str], before: float) -> int:
    try:
        if not entry.is_file(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_mtime >= before:
            return 0
        Path(entry.path).unlink()
    except OSError:
        return 0
    return 1


def _folders(parent: Path) -> Iterator[Path]:
    return (Path(each.path) for each in _entries(parent) if each.is_dir(follow_symlinks=False))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []
