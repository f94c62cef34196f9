"""The TaskStop tool: end what runs in the background."""

from __future__ import annotations

from typing import Any, ClassVar

from claude_wrapper.wire.codec import encode

from .contract import InputRejected, ToolContext, ToolFailure, ToolOutput
from .plain_tool import PlainTool

__all__ = ["TaskStop"]


class TaskStop(PlainTool):
    """End a command or a subagent that runs in the background."""

    name: ClassVar[str] = "TaskStop"
    description: ClassVar[str] = (
        "End a command or a subagent that runs in the background, by the id that you got when it began. "
        "Use it for what is no longer needed, or hangs."
    )
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "task_id": {"type": "string", "description": "Which one"},
            "shell_id": {"type": "string", "description": "The same, by its old name"},
        },
        "additionalProperties": False,
    }

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        wanted = _wanted(tool_input)
        if not wanted:
            raise InputRejected("Missing required parameter: task_id")
        if context.jobs is None or not context.jobs.knows(wanted):
            raise InputRejected(f"No task found with ID: {wanted}")

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        wanted = _wanted(tool_input)
        stopped = None if context.jobs is None else await context.jobs.stop(wanted)
        if stopped is None:
            raise ToolFailure(f"No task found with ID: {wanted}")
        what = stopped.get("command") or stopped["description"]
        told = {
            "message": f"Successfully stopped task: {wanted} ({what})",
            "task_id": wanted,
            "task_type": stopped["kind"],
            "command": what,
        }
        return ToolOutput(encode(told).decode(), told)


def _wanted(tool_input: dict[str, Any]) -> str:
    return str(tool_input.get("task_id") or tool_input.get("shell_id") or "")
