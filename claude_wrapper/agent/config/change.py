"""Changing a settings file: one writer at a time, all or nothing, everything else in it left as it is."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.agent.permissions.updates import write_into
from claude_wrapper.errors import ClaudeSDKError
from claude_wrapper.wire.permissions import PermissionUpdateBody

from .lock import locked
from .reading import read_settings

__all__ = ["SettingsNotWrittenError", "change_settings", "write_updates"]


class SettingsNotWrittenError(ClaudeSDKError):
    """A settings file could not be read or written, so the change holds for this session only."""


def write_updates(path: Path, updates: Iterable[PermissionUpdateBody], *, follow_link: bool = False) -> None:
    """Apply updates to the permissions in a settings file; raises SettingsNotWrittenError."""
    updates = list(updates)

    def change(settings: dict[str, Any]) -> None:
        permissions = settings.setdefault("permissions", {})
        if not isinstance(permissions, dict):
            raise SettingsNotWrittenError(f"{path}: permissions is not an object")
        for update in updates:
            write_into(permissions, update)

    change_settings(path, change, follow_link=follow_link)


def change_settings(
    path: Path, change: Callable[[dict[str, Any]], None], *, follow_link: bool = False
) -> None:
    """Let `change` work on what a settings file says; raises SettingsNotWrittenError.

    The file is replaced in one step; a reader sees the old content or the new one. A link in its place
    is replaced too, unless it is to be followed: in a project somebody else may have put it there.
    A file that is no settings file is left alone: it is the user's, and holds what we cannot see.
    """
    try:
        path = path.resolve() if follow_link else path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(path.parent, path.name):
            reading = read_settings(path)
            if reading.fault is not None:
                raise SettingsNotWrittenError(f"{path} is not a settings file: {reading.fault.problem}")
            if reading.lossy:
                raise SettingsNotWrittenError(f"{path} is not a settings file: it is not in UTF-8")
            settings = reading.values if reading.values is not None else {}
            change(settings)
            _replace(path, msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n")
    except (OSError, RuntimeError) as error:
        raise SettingsNotWrittenError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _replace(path: Path, content: bytes) -> None:
    # The temporary file is private from the start; a file that was there keeps its own mode.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file() and not path.is_symlink():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
