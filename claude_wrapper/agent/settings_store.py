"""Writing permission updates into settings files, so that later sessions have them too."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.store.paths import config_dir
from claude_wrapper.wire.permissions import PermissionUpdateBody

from .permissions.rules import Rule

__all__ = ["SettingsStore", "change_settings_file"]

_decoder = msgspec.json.Decoder(dict[str, Any])


class SettingsStore:
    """Knows which file an update's destination means."""

    def __init__(self, environ: Mapping[str, str], project: Path) -> None:
        self._paths = {
            "userSettings": config_dir(environ) / "settings.json",
            "projectSettings": project / ".claude" / "settings.json",
            "localSettings": project / ".claude" / "settings.local.json",
        }

    def path(self, destination: str) -> Path | None:
        """The file of a destination; None when it lives no longer than the session."""
        return self._paths.get(destination)

    def keep(self, update: PermissionUpdateBody) -> None:
        """Write an update down if its destination is a file. One that cannot be written is not kept."""
        path = self.path(str(update.destination))
        if path is None:
            return
        try:
            change_settings_file(path, lambda values: _merge(values, update))
        except OSError:
            return


def change_settings_file(path: Path, change: Any) -> None:
    """Read a settings file, let `change` alter it, and put it back whole; raises OSError.

    A file that is no JSON object is left alone: it is the user's, and holds what we cannot see.
    """
    try:
        values = _decoder.decode(path.read_bytes())
    except FileNotFoundError:
        values = {}
    except msgspec.DecodeError:
        return
    change(values)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(values), indent=2) + b"\n"
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _merge(values: dict[str, Any], update: PermissionUpdateBody) -> None:
    permissions = values.setdefault("permissions", {})
    if not isinstance(permissions, dict):
        return
    if update.type == "setMode":
        permissions["defaultMode"] = update.mode
        return
    key = "additionalDirectories" if isinstance(update.directories, list) else str(update.behavior)
    items = update.directories if isinstance(update.directories, list) else _rule_texts(update)
    old = permissions.get(key)
    kept = list(old) if isinstance(old, list) else []
    if update.type == "replaceRules":
        kept = list(items)
    elif update.type in {"removeRules", "removeDirectories"}:
        kept = [item for item in kept if item not in items]
    else:
        kept += [item for item in items if item not in kept]
    permissions[key] = kept


def _rule_texts(update: PermissionUpdateBody) -> list[str]:
    rules = update.rules if isinstance(update.rules, list) else []
    return [
        str(Rule(rule.tool_name, rule.rule_content if isinstance(rule.rule_content, str) else None))
        for rule in rules
    ]
