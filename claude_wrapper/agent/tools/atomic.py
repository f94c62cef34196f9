"""Replaces or creates a file in one step, so that no reader and no crash sees half of it."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

__all__ = ["ChangedMeanwhileError", "create_file", "replace_file"]

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class ChangedMeanwhileError(Exception):
    """Somebody else wrote the file between our reading and our writing."""


def create_file(path: Path, data: bytes) -> None:
    """A new file; parents are made, an existing file is never touched (FileExistsError)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, _CREATE, 0o666)
    try:
        _write_all(descriptor, data)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes, seen: os.stat_result) -> None:
    """Give the file new bytes; it must still be the one that `seen` describes.

    Mode and owner are kept. Where the folder takes no new file, or the owner could not be
    kept, the file is written in place: less safe, but what the user allowed to happen.
    """
    if not os.access(path, os.W_OK):
        raise PermissionError(13, os.strerror(13), str(path))
    temporary = path.with_name(f".{path.name[:200]}.{os.urandom(6).hex()}.tmp")
    try:
        descriptor = os.open(temporary, _CREATE, 0o600)
    except PermissionError:
        _require_unchanged(path, seen)
        _write_in_place(path, data)
        return
    try:
        try:
            _write_all(descriptor, data)
            kept = _keep_owner_and_mode(descriptor, seen)
        finally:
            os.close(descriptor)
        _require_unchanged(path, seen)
        if kept:
            temporary.replace(path)
        else:
            _write_in_place(path, data)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def _require_unchanged(path: Path, seen: os.stat_result) -> None:
    now = path.lstat()
    if (now.st_ino, now.st_size, now.st_mtime_ns) != (seen.st_ino, seen.st_size, seen.st_mtime_ns):
        raise ChangedMeanwhileError(str(path))


def _keep_owner_and_mode(descriptor: int, seen: os.stat_result) -> bool:
    if os.name != "posix":
        return True
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (seen.st_uid, seen.st_gid):
        try:
            os.fchown(descriptor, seen.st_uid, seen.st_gid)
        except OSError:
            return False
    os.fchmod(descriptor, stat.S_IMODE(seen.st_mode))
    return True


def _write_in_place(path: Path, data: bytes) -> None:
    descriptor = os.open(
        path, os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    )
    try:
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
