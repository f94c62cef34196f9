"""The MCP servers that users keep in files: for themselves, for a project, for themselves in a project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from .places import known_of, state_file, trust_key, trusts
from .reading import read_settings

__all__ = ["SHARED", "KeptServers", "kept_servers", "shared_files", "switch_kept"]

SHARED = ".mcp.json"
_OFF = "disabledMcpServers"


class KeptServers(msgspec.Struct, frozen=True):
    """The servers by scope, that of least precedence first, and what the user decided about them here."""

    scopes: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    refused: frozenset[str] = frozenset()
    """Those of the project's own file that were refused."""
    off: frozenset[str] = frozenset()
    """Those that were switched off."""
    trusted: bool = True
    """The user trusts the project."""


def kept_servers(sources: Iterable[str], environ: Mapping[str, str], project: Path) -> KeptServers:
    """What the files of these sources hold. A file that is missing or broken holds nothing."""
    sources = set(sources)
    state = read_settings(state_file(environ)).values or {}
    here = known_of(state, project)
    scopes: dict[str, dict[str, Any]] = {}
    if "userSettings" in sources:
        scopes["user"] = _object(state, "mcpServers")
    if "projectSettings" in sources:
        shared = scopes["project"] = {}
        for path in reversed(shared_files(project)):
            shared |= _object(read_settings(path).values or {}, "mcpServers")
    if "localSettings" in sources:
        scopes["local"] = _object(here, "mcpServers")
    return KeptServers(
        scopes,
        _names(here, "disabledMcpjsonServers"),
        _names(here, _OFF),
        trusts(here),
    )


def shared_files(project: Path) -> list[Path]:
    """The files that come with a project, the nearest first.

    Those of folders above it count as well, unless somebody else has put them there.
    """
    return [
        path
        for folder in (project, *project.parents)
        if (path := folder / SHARED).is_file() and (folder == project or _is_ours(path))
    ]


def switch_kept(environ: Mapping[str, str], project: Path, name: str, *, on: bool) -> None:
    """Remember that a server is switched off in a project, or on again; raises SettingsNotWrittenError."""
    from .change import change_settings  # noqa: PLC0415  # few sessions switch anything

    def change(values: dict[str, Any]) -> None:
        here: dict[str, Any] = values
        for key in ("projects", trust_key(project)):
            inner = here.get(key)
            here[key] = here = inner if isinstance(inner, dict) else {}
        names = here.get(_OFF)
        left = [each for each in names if each != name] if isinstance(names, list) else []
        here[_OFF] = left if on else [*left, name]

    change_settings(state_file(environ), change, follow_link=True)


def _is_ours(path: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    try:
        return path.stat().st_uid in (os.getuid(), 0)
    except OSError:
        return False


def _object(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = values.get(key)
    return found if isinstance(found, dict) else {}


def _names(values: Mapping[str, Any], key: str) -> frozenset[str]:
    found = values.get(key)
    return (
        frozenset(each for each in found if isinstance(each, str)) if isinstance(found, list) else frozenset()
    )
