"""The TaskGet tool: all that is known of one task."""

from __future__ import annotations

from typing import Any, ClassVar

from .contract import ToolContext, ToolOutput
from .plain_tool import PlainTool

__all__ = ["TaskGet"]


class TaskGet(PlainTool):
    """Shows a task."""

    name: ClassVar[str] = "TaskGet"
    description: ClassVar[str] = (
        "Show one task of the list in full: its description, its state, what it waits for and what waits for it."
    )
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"taskId": {"type": "string", "description": "The task's number"}},
        "required": ["taskId"],
        "additionalProperties": False,
    }
    changes = False

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        task = context.tasks.find(tool_input["taskId"])
        if task is None:
            return ToolOutput("Task not found", {"task": None})
        lines = [
            f"Task #{task.id}: {task.subject}",
            f"Status: {task.status}",
            f"Description: {task.description}",
        ]
        if task.blocked_by:
            lines.append(f"Blocked by: {', '.join(f'#{number}' for number in task.blocked_by)}")
        if task.blocks:
            lines.append(f"Blocks: {', '.join(f'#{number}' for number in task.blocks)}")
        structured = {
            "id": task.id,
            "subject": task.subject,
            "description": task.description,
            "status": task.status,
            "blocks": list(task.blocks),
            "blockedBy": list(task.blocked_by),
        }
        return ToolOutput("\n".join(lines), {"task": structured})
