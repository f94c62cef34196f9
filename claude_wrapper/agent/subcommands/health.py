"""Whether an MCP server answers: it is started, greeted and ended."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from claude_wrapper.agent.mcp.dial import Dialling, dial
from claude_wrapper.agent.mcp.server import McpServer
from claude_wrapper.agent.mcp.server_shape import filled_in
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
    server = anyio.run(_connected, filled_in(config, environ), environ, cwd, backend="asyncio")
    if server.status == "needs-auth":
        return "! Needs authentication"
    return "✔ Connected" if server.error is None else f"✘ Failed to connect — {server.error}"


async def _connected(config: dict[str, Any], environ: Mapping[str, str], cwd: Path) -> McpServer:
    around = Dialling(cwd, without_secrets(environ))
    server = McpServer(
        "", lambda listener: dial("", config, around, listener), _CLIENT, kind=config.get("type", "stdio")
    )
    try:
        await server.connect(_limit(environ))
    finally:
        await server.hang_up()
        end_background_processes()
        await background_processes_ended()
    return server


def _limit(environ: Mapping[str, str] = os.environ) -> float:
    text = environ.get("MCP_TIMEOUT", "")
    return int(text) / _THOUSAND if text.isdecimal() and int(text) else _SECONDS
