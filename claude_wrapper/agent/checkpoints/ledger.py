"""Which file had which state at which prompt, and going back to one of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec
from msgspec import field

from .backups import Backup, BackupFolder
from .changes import Changes, count_changes

__all__ = ["Checkpoint", "Checkpoints", "NoCheckpointError"]

_MOST = 100


class NoCheckpointError(Exception):
    """There is no checkpoint of this name."""

    def __init__(self) -> None:
        super().__init__("No file checkpoint found for this message.")


class Checkpoint(msgspec.Struct, rename="camel"):
    """The states of the files at one prompt, by their paths."""

    message_id: str
    tracked_file_backups: dict[str, Backup] = field(default_factory=dict)
    timestamp: str = ""


class Checkpoints:
    """Files as they were. A file counts from the moment before a tool first changes it.

    Each prompt begins a checkpoint. What a later checkpoint is the first to know of a file was
    true at all earlier ones, too. `note` is told of every checkpoint that is new or has grown.
    """

    def __init__(
        self,
        folder: Path,
        cwd: Path,
        note: Callable[[dict[str, Any]], None],
        known: list[Checkpoint] | None = None,
    ) -> None:
        self._files = BackupFolder(folder)
        self._cwd = cwd
        self._note = note
        self._points = list(known or [])

    def begin(self, message_id: str) -> None:
        """A prompt came: files that changed since the last one are copied."""
        point = Checkpoint(message_id, timestamp=_now())
        if self._points:
            for name, backup in self._points[-1].tracked_file_backups.items():
                point.tracked_file_backups[name] = self._newer(name, backup)
        self._points.append(point)
        del self._points[:-_MOST]
        self._tell(point, update=False)

    def before_change(self, path: Path) -> None:
        """A tool is about to change a file."""
        name = self._name(path)
        if not self._points or name in self._points[-1].tracked_file_backups:
            return
        try:
            backup = self._files.take(path, 1, _now())
        except OSError:
            return
        self._points[-1].tracked_file_backups[name] = backup
        self._tell(self._points[-1], update=True)

    def preview(self, message_id: str) -> Changes:
        """What going back would change; raises NoCheckpointError."""
        return count_changes((path, self._content(backup)) for path, backup in self._states(message_id))

    def rewind(self, message_id: str) -> int:
        """Bring the files to where they were; returns how many links were left alone. Raises NoCheckpointError."""
        skipped = 0
        for path, backup in self._states(message_id):
            if _is_link(path):
                skipped += 1
            elif self._content(backup) != _current(path):
                self._files.put_back(path, backup)
        return skipped

    def _states(self, message_id: str) -> list[tuple[Path, Backup]]:
        start = next(
            (index for index, point in enumerate(self._points) if point.message_id == message_id), None
        )
        if start is None:
            raise NoCheckpointError
        states: dict[str, Backup] = {}
        for point in self._points[start:]:
            for name, backup in point.tracked_file_backups.items():
                states.setdefault(name, backup)
        return [(self._cwd / name, backup) for name, backup in states.items()]

    def _newer(self, name: str, known: Backup) -> Backup:
        """The state of a file now; the known one where nothing has changed."""
        path = self._cwd / name
        try:
            if self._files.content(known) == _current(path):
                return known
            return self._files.take(path, known.version + 1, _now())
        except OSError:
            return known

    def _content(self, backup: Backup) -> bytes | None:
        try:
            return self._files.content(backup)
        except OSError as error:
            raise NoCheckpointError from error

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._cwd)) if path.is_relative_to(self._cwd) else str(path)

    def _tell(self, point: Checkpoint, *, update: bool) -> None:
        self._note(
            {
                "type": "file-history-snapshot",
                "messageId": point.message_id,
                "snapshot": msgspec.to_builtins(point),
                "isSnapshotUpdate": update,
            }
        )


def _current(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _is_link(path: Path) -> bool:
    """Whether a file has other names, through which more would change than was asked for."""
    try:
        return path.is_symlink() or path.stat().st_nlink > 1
    except OSError:
        return False


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
