"""Where settings files are, and whether the folder they are in is trusted."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claude_wrapper.store.paths import config_dir

from .reading import read_settings

__all__ = [
    "SettingsPlaces",
    "ignoring",
    "is_trusted",
    "known_of",
    "managed_folder",
    "project_folders",
    "state_file",
    "trust_key",
    "trusts",
]


class SettingsPlaces:
    """The files of the user, the project and this checkout of it."""

    def __init__(self, environ: Mapping[str, str], project: Path) -> None:
        self._environ = environ
        self._project = project
        folder = project / ".claude"
        self._paths: dict[str, Path] = {
            "userSettings": config_dir(environ) / "settings.json",
            "projectSettings": folder / "settings.json",
            "localSettings": folder / "settings.local.json",
        }

    def path(self, source: str) -> Path | None:
        """The file of a source; None when it lives no longer than the session."""
        return self._paths.get(source)

    def trusted(self) -> bool:
        """Whether the user trusts the project."""
        return is_trusted(self._environ, self._project)

    def ignoring(self, count: int, key: str) -> str:
        """What to tell of grants that stand in the project's settings and are not in force."""
        return ignoring(count, key, ".claude/settings.json", self._environ, self._project)


def managed_folder() -> Path:
    """Where the administrator of a machine puts settings that bind everybody."""
    if sys.platform == "darwin":
        return Path("/Library/Application Support/ClaudeCode")
    if os.name == "nt":
        return Path(os.environ.get("PROGRAMFILES", r"C:\Program Files")) / "ClaudeCode"
    return Path("/etc/claude-code")


def state_file(environ: Mapping[str, str]) -> Path:
    """Where the field keeps what it knows of projects."""
    folder = config_dir(environ)
    return (folder if environ.get("CLAUDE_CONFIG_DIR") else folder.parent) / ".claude.json"


def is_trusted(environ: Mapping[str, str], project: Path) -> bool:
    """Whether the user has said that this folder, or the repository around it, may be trusted."""
    return trusts(known_of(read_settings(state_file(environ)).values or {}, project))


def known_of(state: Mapping[str, Any], project: Path) -> dict[str, Any]:
    """What the state file knows of a project."""
    projects = state.get("projects")
    known = projects.get(trust_key(project)) if isinstance(projects, dict) else None
    return known if isinstance(known, dict) else {}


def trusts(known: Mapping[str, Any]) -> bool:
    """Whether that says that the user trusts the project."""
    return known.get("hasTrustDialogAccepted") is True


def ignoring(count: int, key: str, name: str, environ: Mapping[str, str], project: Path) -> str:
    """What to tell of grants that a folder which nobody trusts makes to itself."""
    entries = "entry" if count == 1 else "entries"
    return (
        f"Ignoring {count} permissions.{key} {entries} from {name}: this workspace has not been trusted. To trust it, "
        f'set projects["{trust_key(project)}"].hasTrustDialogAccepted to true in {state_file(environ)}.'
    )


def project_folders(cwd: Path) -> list[Path]:
    """The folders that belong to a project, from the current one up to its repository; outside of one only that."""
    folders = []
    for folder in (cwd, *cwd.parents):
        folders.append(folder)
        if (folder / ".git").exists():
            return folders
    return [cwd]


def trust_key(project: Path) -> str:
    """The folder that has to be trusted: the repository, or the folder itself outside of one."""
    return str(project_folders(project)[-1])
