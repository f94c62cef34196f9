"""The tools by which the model looks at the resources of MCP servers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from claude_wrapper.agent.mcp.content import kept_blob
from claude_wrapper.agent.mcp.server import McpServer, ServerFailedError
from claude_wrapper.agent.tools.contract import ToolContext, ToolFailure, ToolOutput
from claude_wrapper.agent.tools.plain_tool import PlainTool

from .call import current_call

__all__ = ["ListMcpResources", "ReadMcpResource"]

Servers = Mapping[str, McpServer]


class _ResourceTool(PlainTool):
    """What is wrong with a call shows when it is tried."""

    changes = False

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    def _named(self, name: str) -> McpServer:
        server = self._servers.get(name)
        if server is None:
            known = ", ".join(self._servers)
            raise ToolFailure(f'Server "{name}" not found. Available servers: {known}')
        return server


class ListMcpResources(_ResourceTool):
    """Lists them."""

    name: ClassVar[str] = "ListMcpResourcesTool"
    description: ClassVar[str] = (
        "List what the connected MCP servers have to be read: address, name, kind and server of each resource. "
        "With `server`, only those of one server."
    )
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"server": {"type": "string", "description": "The name of the server to list."}},
        "additionalProperties": False,
    }

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        """List them."""
        name = tool_input.get("server")
        servers = [self._named(name)] if isinstance(name, str) and name else list(self._servers.values())
        found = [
            {**_shown(resource), "server": server.name} for server in servers for resource in server.resources
        ]
        if not found:
            return ToolOutput("No MCP server has resources to be read; there may be tools all the same.", [])
        return ToolOutput(msgspec.json.encode(found).decode(), found)


class ReadMcpResource(_ResourceTool):
    """Reads one."""

    name: ClassVar[str] = "ReadMcpResourceTool"
    description: ClassVar[str] = (
        "Read a resource of an MCP server, by the server's name and the resource's address."
    )
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "server": {"type": "string", "description": "The name of the server."},
            "uri": {"type": "string", "description": "The address of the resource."},
        },
        "required": ["server", "uri"],
        "additionalProperties": False,
    }

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Read it."""
        server = self._named(str(tool_input["server"]))
        if server.status != "connected":
            raise ToolFailure(f'Server "{server.name}" is not connected')
        if "resources" not in server.capabilities:
            raise ToolFailure(f'Server "{server.name}" does not support resources')
        try:
            given = await server.ask("resources/read", {"uri": str(tool_input["uri"])})
        except ServerFailedError as error:
            raise ToolFailure(str(error)) from error
        stem = f"mcp-{server.name}-{current_call.get()[-12:]}"
        contents = [
            _content(item, context.results_dir, f"{stem}-{index}")
            for index, item in enumerate(given.get("contents") or ())
            if isinstance(item, dict)
        ]
        structured = {"contents": contents}
        return ToolOutput(msgspec.json.encode(structured).decode(), structured)


def _shown(resource: Mapping[str, Any]) -> dict[str, Any]:
    return {key: resource[key] for key in ("name", "uri", "description", "mimeType") if key in resource}


def _content(item: dict[str, Any], results_dir: Path, name: str) -> dict[str, Any]:
    """A part of a resource; what is no text goes to a file."""
    shown: dict[str, Any] = {key: item[key] for key in ("uri", "mimeType", "text") if key in item}
    if "blob" not in item:
        return shown
    path = kept_blob(item["blob"], item.get("mimeType"), results_dir, name)
    return {**shown, "text": "It could not be kept."} if path is None else {**shown, "blobSavedTo": str(path)}
