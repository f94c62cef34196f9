"""Where MCP servers are kept: in the user's file for all folders, for one folder, or in the folder's own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from claude_wrapper.agent.config.change import change_settings
from claude_wrapper.agent.config.places import state_file, trust_key
from claude_wrapper.agent.config.reading import read_settings

__all__ = ["SCOPES", "KeptServer", "ServerScopes"]

SCOPES = ("local", "user", "project")
"""By precedence, the highest first but for `project`, which stands between the two others."""
_BY_PRECEDENCE = ("local", "project", "user")
_ABOUT = {
    "local": "Local config (yours, in this folder only)",
    "project": "Project config (shared by the folder's .mcp.json)",
    "user": "User config (yours, in all folders)",
}


class KeptServer(NamedTuple):
    """A server as it is written down."""

    name: str
    scope: str
    config: dict[str, Any]

    @property
    def kind(self) -> str:
        """How it is reached."""
        kind = self.config.get("type")
        return kind if isinstance(kind, str) else "stdio"


class ServerScopes:
    """Reads and changes them."""

    def __init__(self, environ: Mapping[str, str], cwd: Path) -> None:
        self._state = state_file(environ)
        self._folder = trust_key(cwd)
        self._shared = cwd / ".mcp.json"

    def place(self, scope: str) -> str:
        """Where a scope is kept, for people."""
        if scope == "project":
            return str(self._shared)
        return f"{self._state} [project: {self._folder}]" if scope == "local" else str(self._state)

    @staticmethod
    def about(scope: str) -> str:
        """What a scope is, for people."""
        return _ABOUT[scope]

    def servers(self, scope: str) -> dict[str, KeptServer]:
        """The servers of one scope."""
        values = read_settings(self._shared if scope == "project" else self._state).values or {}
        found = _section(values, self._keys(scope))
        return {
            name: KeptServer(name, scope, config)
            for name, config in found.items()
            if isinstance(config, dict)
        }

    def all(self) -> dict[str, KeptServer]:
        """Every server, that of the nearest scope where several have its name."""
        found: dict[str, KeptServer] = {}
        for scope in reversed(_BY_PRECEDENCE):
            found |= self.servers(scope)
        return found

    def holding(self, name: str) -> list[str]:
        """The scopes that know a server."""
        return [scope for scope in _BY_PRECEDENCE if name in self.servers(scope)]

    def put(self, scope: str, name: str, config: dict[str, Any]) -> None:
        """Write a server down; raises SettingsNotWrittenError."""
        self._change(scope, lambda servers: servers.update({name: config}))

    def remove(self, scope: str, name: str) -> None:
        """Forget a server; raises SettingsNotWrittenError."""
        self._change(scope, lambda servers: servers.pop(name, None))

    def forget_choices(self) -> None:
        """Forget which servers of the folder's own file were approved or rejected."""

        def change(values: dict[str, Any]) -> None:
            folder = _made(values, ("projects", self._folder))
            folder |= {"enabledMcpjsonServers": [], "disabledMcpjsonServers": []}

        change_settings(self._state, change, follow_link=True)

    def approved(self) -> set[str]:
        """The servers of the folder's own file that the user has approved."""
        values = read_settings(self._state).values or {}
        names = _section(values, ("projects", self._folder)).get("enabledMcpjsonServers")
        return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()

    def _keys(self, scope: str) -> tuple[str, ...]:
        return ("projects", self._folder, "mcpServers") if scope == "local" else ("mcpServers",)

    def _change(self, scope: str, change: Callable[[dict[str, Any]], object]) -> None:
        path = self._shared if scope == "project" else self._state
        change_settings(
            path,
            lambda values: _void(change(_made(values, self._keys(scope)))),
            follow_link=scope != "project",
        )


def _void(_: object) -> None:
    """Nothing, whatever was done."""


def _section(values: Mapping[str, Any], keys: tuple[str, ...]) -> Mapping[str, Any]:
    found: Any = values
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _made(values: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """The section of these keys, made where it is not there."""
    for key in keys:
        inner = values.get(key)
        if not isinstance(inner, dict):
            inner = values[key] = {}
        values = inner
    return values
