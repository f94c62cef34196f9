"""Writes permission updates into a settings file, leaving everything else in it as it is."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.errors import ClaudeSDKError
from claude_wrapper.wire.permissions import PermissionUpdateBody

from .updates import rule_texts


class SettingsNotWrittenError(ClaudeSDKError):
    """A settings file could not be read or written, so the change holds for this session only."""


def write_updates(path: Path, updates: Iterable[PermissionUpdateBody], *, follow_link: bool = False) -> None:
    """Apply updates to the permissions in a settings file, all or nothing.

    The file is replaced in one step; a reader sees the old content or the new one. A link in its place
    is replaced too, unless it is to be followed: in a project somebody else may have put it there.
    """
    path = path.resolve() if follow_link else path
    try:
        settings = _read(path)
        permissions = settings.setdefault("permissions", {})
        if not isinstance(permissions, dict):
            raise SettingsNotWrittenError(f"{path}: permissions is not an object")
        for update in updates:
            _apply(permissions, update)
        _replace(path, msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n")
    except OSError as error:
        raise SettingsNotWrittenError(f"{path}: {error.strerror or error}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    if not content.strip():
        return {}
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise SettingsNotWrittenError(f"{path} is not a settings file") from error


def _apply(permissions: dict[str, Any], update: PermissionUpdateBody) -> None:
    if update.type == "setMode":
        permissions["defaultMode"] = update.mode
        return
    if update.type.endswith("Directories"):
        key, given = "additionalDirectories", list(update.directories or ())
    else:
        key, given = str(update.behavior), rule_texts(update)
    present = permissions.get(key)
    listed = [item for item in present if isinstance(item, str)] if isinstance(present, list) else []
    if update.type.startswith("remove"):
        permissions[key] = [item for item in listed if item not in given]
    elif update.type == "replaceRules":
        permissions[key] = given
    else:
        permissions[key] = list(dict.fromkeys((*listed, *given)))


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
