"""Reading settings files: which there are, what each says, and which of it counts in an untrusted folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.store.paths import config_dir

from .permissions.rules import RuleBehavior, Source

__all__ = [
    "SettingsError",
    "SettingsFile",
    "SettingsPlaces",
    "given_settings",
    "is_trusted",
    "settings_files",
]

_SIZE_LIMIT = 2 * 1024 * 1024
_BEHAVIORS: tuple[RuleBehavior, ...] = ("allow", "deny", "ask")
_decoder = msgspec.json.Decoder(dict[str, Any])


class SettingsError(Exception):
    """Settings that the command line names cannot be read."""


class SettingsFile(msgspec.Struct, frozen=True):
    """What one source of settings says. `root` is the folder that its path rules are relative to."""

    source: Source
    values: dict[str, Any]
    root: Path | None = None
    path: Path | None = None

    def rules(self, behavior: RuleBehavior) -> list[str]:
        """The permission rules of one list; what is no text is left out."""
        return [rule for rule in self._permission_list(behavior) if isinstance(rule, str)]

    def directories(self) -> list[str]:
        """Further folders to work in."""
        return [path for path in self._permission_list("additionalDirectories") if isinstance(path, str)]

    def environment(self) -> dict[str, str]:
        """Variables for the agent and what it starts."""
        env = self.values.get("env")
        if not isinstance(env, dict):
            return {}
        return {
            key: str(value)
            for key, value in env.items()
            if isinstance(value, str | int | float) and not isinstance(value, bool)
        }

    def default_mode(self) -> str | None:
        """The permission mode to start in."""
        permissions = self.values.get("permissions")
        mode = permissions.get("defaultMode") if isinstance(permissions, dict) else None
        return mode if isinstance(mode, str) else None

    def has_allow_rules(self) -> bool:
        """Whether it lets calls through that would be asked about."""
        return bool(self.rules("allow") or self.directories())

    def _permission_list(self, name: str) -> Sequence[Any]:
        permissions = self.values.get("permissions")
        values = permissions.get(name) if isinstance(permissions, dict) else None
        return values if isinstance(values, list) else []

    def without_grants(self) -> SettingsFile:
        """The same without what widens the agent's permissions."""
        permissions = {
            key: value
            for key, value in (self.values.get("permissions") or {}).items()
            if key not in {"allow", "additionalDirectories"}
        }
        return SettingsFile(self.source, {**self.values, "permissions": permissions}, self.root, self.path)


class SettingsPlaces:
    """Where the settings files are."""

    def __init__(self, environ: Mapping[str, str], project: Path) -> None:
        folder = project / ".claude"
        self._paths: dict[str, Path] = {
            "userSettings": config_dir(environ) / "settings.json",
            "projectSettings": folder / "settings.json",
            "localSettings": folder / "settings.local.json",
        }

    def path(self, source: str) -> Path | None:
        """The file of a source; None when it lives no longer than the session."""
        return self._paths.get(source)


def settings_files(sources: Sequence[str], environ: Mapping[str, str], project: Path) -> list[SettingsFile]:
    """The files of these sources (`user`, `project`, `local`), lowest precedence first.

    A file that is missing or broken counts as empty: a run must not fail on it.
    """
    places = SettingsPlaces(environ, project)
    roots: list[tuple[str, Source, Path]] = [
        ("user", "userSettings", config_dir(environ)),
        ("project", "projectSettings", project),
        ("local", "localSettings", project),
    ]
    found = []
    for name, source, root in roots:
        path = places.path(source)
        values = _read_quietly(path) if name in sources and path is not None else {}
        if values:
            found.append(SettingsFile(source, values, root, path))
    return found


def given_settings(value: str, cwd: Path) -> SettingsFile:
    """The settings that a flag gives: JSON, or the path of a file; raises SettingsError."""
    text = value.strip()
    if text.startswith("{") and text.endswith("}"):
        try:
            return SettingsFile("flagSettings", _decoder.decode(text), cwd)
        except msgspec.DecodeError as error:
            raise SettingsError(f"Invalid JSON provided to --settings: {error}") from error
    path = cwd / value
    if not path.exists():
        raise SettingsError(f"Settings file not found: {path}")
    if not path.is_file():
        raise SettingsError(f"Settings path is not a file: {path}")
    if path.stat().st_size > _SIZE_LIMIT:
        raise SettingsError(f"Settings file exceeds the 2MiB limit: {path}")
    try:
        return SettingsFile("flagSettings", _decoder.decode(path.read_bytes()), path.parent, path)
    except (OSError, msgspec.DecodeError) as error:
        raise SettingsError(f"cannot read the settings file {path}: {error}") from error


def is_trusted(environ: Mapping[str, str], project: Path) -> bool:
    """Whether the user has said that this folder, or one around it, may be trusted."""
    if environ.get("CLAUDE_CONFIG_DIR"):
        state = config_dir(environ) / ".claude.json"
    else:
        state = config_dir(environ).parent / ".claude.json"
    projects = _read_quietly(state).get("projects")
    if not isinstance(projects, dict):
        return False
    for folder in (project, *project.parents):
        known = projects.get(str(folder))
        if isinstance(known, dict) and known.get("hasTrustDialogAccepted") is True:
            return True
    return False


def _read_quietly(path: Path) -> dict[str, Any]:
    try:
        return _decoder.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return {}
