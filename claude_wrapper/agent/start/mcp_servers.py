"""The MCP servers that a command line brings: files and JSON, each server checked by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.agent.config.sources import SettingsError
from claude_wrapper.agent.mcp.server_shape import needed_field, parts_complaint

__all__ = ["given_servers"]

_decoder = msgspec.json.Decoder(dict[str, Any])

Servers = dict[str, dict[str, Any]]


def given_servers(given: Sequence[str], cwd: Path) -> tuple[Servers, list[dict[str, str]]]:
    """The servers, and those that are left out with the reason, as init frames tell it. Raises SettingsError."""
    servers: Servers = {}
    for each in given:
        if each.strip():
            servers.update(_servers_in(each, cwd))
    errors = [error for name, config in servers.items() if (error := _complaint(name, config)) is not None]
    for error in errors:
        del servers[error["name"]]
    return servers, errors


def _servers_in(given: str, cwd: Path) -> dict[str, Any]:
    text = given.strip()
    try:
        if not (text.startswith("{") and text.endswith("}")):
            path = cwd / given
            if not path.is_file():
                raise SettingsError(f"Invalid MCP configuration:\nMCP config file not found: {path}")
            text = path.read_text(encoding="utf-8")
        found = _decoder.decode(text)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
        raise SettingsError(f"Invalid MCP configuration:\n{error}") from error
    configs = found.get("mcpServers")
    if not isinstance(configs, dict):
        raise SettingsError("Invalid MCP configuration:\nmcpServers is no object of servers")
    return configs


def _complaint(name: str, config: Any) -> dict[str, str] | None:
    if not isinstance(config, dict):
        return _invalid(name, "it is no object")
    kind = config.get("type", "stdio")
    needed = "name" if kind == "sdk" else needed_field(kind)
    if needed is None:
        message = f'Skipped — unknown MCP server type "{kind}" for server "{name}"'
        return {"name": name, "type": "unknown_type", "message": message}
    if kind != "sdk" and not isinstance(config.get(needed), str):
        return _invalid(name, f"{needed}: a text is needed")
    wrong = parts_complaint(config, ("env",))
    return None if wrong is None else _invalid(name, wrong)


def _invalid(name: str, why: str) -> dict[str, str]:
    message = f'Skipped — invalid MCP server config for "{name}": {why}'
    return {"name": name, "type": "invalid_config", "message": message}
