"""Whether an MCP server answers: it is started, greeted and ended."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from claude_wrapper.agent.mcp.host_server import HostServer
from claude_wrapper.agent.mcp.stdio_channel import StdioChannel
from claude_wrapper.agent.tools.environment import without_secrets
from claude_wrapper.agent.tools.registry import background_processes_ended, end_background_processes
from claude_wrapper.agent.version import AGENT_VERSION

from .server_config import config_complaint

__all__ = ["told_health"]

_SECONDS = 30.0
_THOUSAND = 1000
_CLIENT = {"name": "claude-wrapper", "version": AGENT_VERSION}


def told_health(config: dict[str, Any], environ: Mapping[str, str], cwd: Path) -> str:
    """How the server is, in a few words for people."""
    wrong = config_complaint(config)
    if wrong is not None:
        return f"✘ Failed to connect — {wrong}"
    if config.get("type", "stdio") != "stdio":
        return "? Not checked — servers behind a URL are not reached by this agent"
    fault = anyio.run(_fault, config, environ, cwd, backend="asyncio")
    return "✔ Connected" if fault is None else f"✘ Failed to connect — {fault}"


async def _fault(config: dict[str, Any], environ: Mapping[str, str], cwd: Path) -> str | None:
    argv = [config["command"], *config.get("args", [])]
    channel = StdioChannel(argv, cwd, {**without_secrets(environ), **config.get("env", {})})
    server = HostServer("", channel, _CLIENT)
    try:
        await server.connect(_limit(environ))
    finally:
        await channel.close()
        end_background_processes()
        await background_processes_ended()
    return server.error


def _limit(environ: Mapping[str, str] = os.environ) -> float:
    text = environ.get("MCP_TIMEOUT", "")
    return int(text) / _THOUSAND if text.isdecimal() and int(text) else _SECONDS
