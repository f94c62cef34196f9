"""The tools of MCP servers, as the dispatch runs tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claude_wrapper.agent.mcp.content import McpResult, as_read, result_from
from claude_wrapper.agent.mcp.server import CallLostError, McpServer, ServerFailedError
from claude_wrapper.agent.mcp.tool import McpToolFacts
from claude_wrapper.agent.tools.contract import ToolContext, ToolFailure, ToolOutput

from .call import current_call
from .mcp_limits import McpLimits

__all__ = ["McpTool", "called"]

_LOST = (
    "The call was cut off before its result came. The server may have done what it was asked to do, or not: "
    "look before you rely on either."
)


class McpTool:
    """Runs one tool of a server."""

    def __init__(self, server: McpServer, facts: McpToolFacts, limits: McpLimits) -> None:
        self._server = server
        self._facts = facts
        self._limits = limits
        self.name = facts.name
        self.description = facts.description
        self.input_schema = facts.input_schema

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        """As the server says."""
        return self._facts.read_only

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The server knows its own defaults."""
        return tool_input

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """Which fields are paths only the server knows."""
        return tool_input

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        """The server checks its input itself."""

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Call the server."""
        call_id = current_call.get()
        stem = f"mcp-{self._server.name}-{call_id[-12:]}"
        result = await called(
            self._server, self._facts.own_name, tool_input, call_id, context.results_dir, stem
        )
        most = self._facts.most_characters
        tokens = self._limits.output_tokens if most is None else None
        return ToolOutput(
            *as_read(result, context.results_dir, stem, self.name, most_tokens=tokens, most_characters=most)
        )


async def called(
    server: McpServer, tool: str, arguments: dict[str, Any], call_id: str, results_dir: Path, stem: str
) -> McpResult:
    """What a tool of a server gave back; raises ToolFailure."""
    try:
        given = await server.call(tool, arguments, {"claudecode/toolUseId": call_id})
    except CallLostError as error:
        raise ToolFailure(_LOST, interrupted=True) from error
    except ServerFailedError as error:
        raise ToolFailure(str(error)) from error
    result = result_from(given, results_dir, stem, server.name)
    if given.get("isError") is True:
        raise ToolFailure(result.text or "The tool reported a failure without a text.")
    return result
