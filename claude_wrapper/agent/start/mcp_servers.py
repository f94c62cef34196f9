"""The MCP servers of a run: those of its command line, and those that users keep in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.agent.config.file import SettingsFile
from claude_wrapper.agent.config.kept_servers import KeptServers, kept_servers
from claude_wrapper.agent.config.server_policy import ServerPolicy, server_policy
from claude_wrapper.agent.config.sources import SettingsError
from claude_wrapper.agent.mcp.server_shape import complaint, filled_in
from claude_wrapper.agent.tools.environment import without_secrets

from .cli import Arguments
from .load_files import chosen_sources, project_of

__all__ = ["GivenServer", "ServerChoice", "choose_servers"]

_decoder = msgspec.json.Decoder(dict[str, Any])

Servers = dict[str, dict[str, Any]]


class GivenServer(msgspec.Struct, frozen=True):
    """A server that a run may use."""

    config: dict[str, Any]
    scope: str = "dynamic"
    """Where it is written: `user`, `project`, `local`, or `dynamic` for those of this run only."""
    off: bool = False
    """The user has switched it off in this project."""


class ServerChoice(msgspec.Struct, frozen=True):
    """The servers of a run, what is wrong with others, and which may be added later."""

    servers: dict[str, GivenServer] = msgspec.field(default_factory=dict)
    errors: tuple[dict[str, str], ...] = ()
    """As init frames tell them."""
    warnings: tuple[str, ...] = ()
    policy: ServerPolicy = ServerPolicy()
    project: Path | None = None
    trusted: bool = True
    """Commands that the project's own servers bring may run."""


def choose_servers(
    arguments: Arguments, files: Sequence[SettingsFile], environ: Mapping[str, str], cwd: Path, *, bare: bool
) -> ServerChoice:
    """Raises SettingsError for a flag that cannot be understood."""
    policy = server_policy(files)
    given, errors = _given(arguments.list("mcp_config"), cwd, environ)
    kept = KeptServers()
    project = project_of(arguments, cwd)
    safe = arguments.has("safe_mode")
    if not bare and not safe and not arguments.has("strict_mcp_config"):
        kept = kept_servers(chosen_sources(arguments), environ, project)
    servers: dict[str, GivenServer] = {}
    for scope, found in kept.scopes.items():
        for name, written in found.items():
            # A folder is not told the keys of the model's API.
            config = filled_in(written, without_secrets(environ) if scope == "project" else environ)
            refused = scope == "project" and name in policy.refused | kept.refused
            if complaint(name, config) is None and not refused and policy.lets(name, config):
                servers[name] = GivenServer(config, scope, name in kept.off)
    warnings = []
    for name, config in given.items():
        if safe and config.get("type") != "sdk":
            continue
        if policy.lets(name, config):
            servers[name] = GivenServer(config, off=name in kept.off)
        else:
            warnings.append(f"MCP server blocked by enterprise policy: {name}")
    told = [
        f"MCP server '{name}': headersHelper not run, since this folder has not been trusted"
        for name, each in servers.items()
        if "headersHelper" in each.config and each.scope in ("project", "local") and not kept.trusted
    ]
    return ServerChoice(servers, tuple(errors), (*warnings, *told), policy, project, kept.trusted)


def _given(
    given: Sequence[str], cwd: Path, environ: Mapping[str, str]
) -> tuple[Servers, list[dict[str, str]]]:
    """The servers of the flag, and those that are left out with the reason. Raises SettingsError."""
    servers: Servers = {}
    for each in given:
        if each.strip():
            servers.update(
                {name: filled_in(config, environ) for name, config in _servers_in(each, cwd).items()}
            )
    errors = [error for name, config in servers.items() if (error := complaint(name, config)) is not None]
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
