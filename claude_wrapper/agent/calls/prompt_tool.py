"""Asking a tool of an MCP server for permission (--permission-prompt-tool), in the place of the host."""

from __future__ import annotations

import msgspec

from claude_wrapper.agent.host.link import HostRefusedError
from claude_wrapper.agent.tools.contract import InputRejected, ToolContext, ToolFailure, ToolOutput
from claude_wrapper.wire.codec import decode_object
from claude_wrapper.wire.permissions import AllowReply, CanUseTool, DenyReply, PermissionReply

from .call import current_call
from .toolbox import Toolbox

__all__ = ["PromptTool"]


class PromptTool:
    """Puts questions about permission to a tool, which the model is not offered."""

    def __init__(self, name: str, toolbox: Toolbox, context: ToolContext) -> None:
        self._name = name
        self._toolbox = toolbox
        self._context = context
        toolbox.keep_back(name)

    async def can_use_tool(self, question: CanUseTool) -> PermissionReply:
        """Ask whether a call may run; waits as long as it takes. Raises HostRefusedError."""
        tool = self._toolbox.find(self._name)
        if tool is None:
            raise HostRefusedError(f"there is no tool {self._name} (--permission-prompt-tool)")
        arguments = {
            "tool_name": question.tool_name,
            "input": question.input,
            "tool_use_id": question.tool_use_id,
        }
        current_call.set(question.tool_use_id or "")
        try:
            output = await tool.run(arguments, self._context)
        except (ToolFailure, InputRejected) as error:
            raise HostRefusedError(f"{self._name} failed: {error.text}") from error
        reply = _reply(output, self._name)
        if isinstance(reply, AllowReply) and _needs_a_person(question):
            return DenyReply(
                message=f"{question.tool_name} has to be allowed by a person, and {self._name} is none."
            )
        return reply


def _needs_a_person(question: CanUseTool) -> bool:
    """Whether a server says that only a person can allow its tool."""
    return question.requires_user_interaction is True and isinstance(question.mcp_server, dict)


def _reply(output: ToolOutput, name: str) -> PermissionReply:
    try:
        reply: PermissionReply = msgspec.convert(decode_object(_text(output).encode()), PermissionReply)
    except msgspec.DecodeError:
        return DenyReply(
            message=f"{name} has to answer with JSON that holds a `behavior`, `allow` or `deny`, and did not."
        )
    return reply


def _text(output: ToolOutput) -> str:
    if isinstance(output.content, str):
        return output.content
    return "".join(str(block.get("text") or "") for block in output.content)
