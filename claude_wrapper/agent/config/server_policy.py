"""Which MCP servers settings let a session have: lists of allowed and of denied ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from .file import SettingsFile
from .merged import in_force, value_of

__all__ = ["ServerPolicy", "server_policy"]


class ServerPolicy(msgspec.Struct, frozen=True):
    """The lists. Without one of allowed servers all are allowed; a denied one never is."""

    allowed: tuple[dict[str, Any], ...] | None = None
    denied: tuple[dict[str, Any], ...] = ()
    refused: frozenset[str] = frozenset()
    """Servers of the project's own file that the user does not want."""

    def lets(self, name: str, config: Mapping[str, Any]) -> bool:
        """Whether a session may have a server. Those of the host are the host's own business."""
        if config.get("type") == "sdk":
            return True
        if any(_names(each, name) or _describes(each, config) for each in self.denied):
            return False
        if self.allowed is None:
            return True
        # Where a list says how servers are reached, a name alone is not enough: anybody can take a name.
        how = "serverUrl" if "url" in config else "serverCommand"
        if any(how in each for each in self.allowed):
            return any(_describes(each, config) for each in self.allowed)
        return any(_names(each, name) for each in self.allowed)


def server_policy(files: Sequence[SettingsFile]) -> ServerPolicy:
    """What all settings say together."""
    allowed = value_of(in_force(files, "allowManagedMcpServersOnly"), "allowedMcpServers")
    refused = value_of(files, "disabledMcpjsonServers")
    return ServerPolicy(
        allowed=_entries(allowed) if isinstance(allowed, list) else None,
        denied=_entries(value_of(files, "deniedMcpServers")),
        refused=frozenset(each for each in refused if isinstance(each, str))
        if isinstance(refused, list)
        else frozenset(),
    )


def _entries(listed: Any) -> tuple[dict[str, Any], ...]:
    return tuple(each for each in listed if isinstance(each, dict)) if isinstance(listed, list) else ()


def _names(entry: Mapping[str, Any], name: str) -> bool:
    return entry.get("serverName") == name


def _describes(entry: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    if "url" in config:
        pattern = entry.get("serverUrl")
        return isinstance(pattern, str) and _matches(pattern, str(config["url"]))
    return "serverCommand" in entry and entry["serverCommand"] == [
        config.get("command"),
        *config.get("args", []),
    ]


def _matches(pattern: str, url: str) -> bool:
    """`*` stands for anything; nothing else is special."""
    parts = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(parts), url) is not None
