"""Copies of files as they were, in a folder that only their owner can read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import msgspec

__all__ = ["Backup", "BackupFolder"]


class Backup(msgspec.Struct, rename="camel"):
    """One file at one moment. Without a name there was no file."""

    backup_file_name: str | None
    version: int
    backup_time: str = ""
    mode: int | None = None


class BackupFolder:
    """Takes copies of files and puts them back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, path: Path, version: int, time: str) -> Backup:
        """Copy a file as it is now; raises OSError."""
        try:
            data = path.read_bytes()
            mode = path.stat().st_mode & 0o7777
        except FileNotFoundError:
            return Backup(None, version, time)
        name = f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}@v{version}"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write_new(self._folder / name, data, 0o600)
        return Backup(name, version, time, mode)

    def content(self, backup: Backup) -> bytes | None:
        """What a file held; None when there was none. Raises OSError."""
        if backup.backup_file_name is None:
            return None
        return (self._folder / Path(backup.backup_file_name).name).read_bytes()

    def put_back(self, path: Path, backup: Backup) -> None:
        """Bring a file to the state of a copy; raises OSError."""
        data = self.content(backup)
        if data is None:
            path.unlink(missing_ok=True)
            return
        mode = backup.mode
        with contextlib.suppress(FileNotFoundError):
            mode = path.stat().st_mode & 0o7777
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_new(path, data, 0o644 if mode is None else mode)


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file beside its place, and put it there when it is whole."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
