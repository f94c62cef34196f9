"""The MCP servers of a session as the host asks about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claude_wrapper.agent.mcp.server import McpServer

__all__ = ["statuses"]


def statuses(servers: Iterable[McpServer]) -> list[dict[str, Any]]:
    """Each server: how it is, what it is, what it offers."""
    return [_status(server) for server in servers]


def _status(server: McpServer) -> dict[str, Any]:
    status: dict[str, Any] = {"name": server.name, "status": server.status}
    info = server.info.get("serverInfo")
    if isinstance(info, dict):
        status["serverInfo"] = info
    if server.error is not None:
        status["error"] = server.error
    if server.shown is not None:
        status["config"] = dict(server.shown)
    status |= {"transport": server.kind, "scope": server.scope, "source": server.source}
    if server.status == "connected":
        from claude_wrapper.agent.mcp.tool import McpToolFacts  # noqa: PLC0415  # start-up: most sessions have none

        facts = [McpToolFacts(server.name, described) for described in server.tools]
        status["tools"] = [
            {"name": each.own_name, "description": each.description, "annotations": each.shown_annotations()}
            for each in facts
        ]
    return status
