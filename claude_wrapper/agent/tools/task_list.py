"""The TaskList tool: the tasks and how far each has come."""

from __future__ import annotations

from typing import Any, ClassVar

from .contract import ToolContext, ToolOutput
from .plain_tool import PlainTool

__all__ = ["TaskList"]


class TaskList(PlainTool):
    """Shows the list."""

    name: ClassVar[str] = "TaskList"
    description: ClassVar[str] = (
        "Show the list of tasks: the number, the state and the subject of each, who does it, and what it still waits for."
    )
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    changes = False

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        lines, rows = [], []
        for task in context.tasks:
            open_ones = context.tasks.waits_for(task)
            line = f"#{task.id} [{task.status}] {task.subject}"
            row: dict[str, Any] = {"id": task.id, "subject": task.subject, "status": task.status}
            if task.owner is not None:
                line += f" ({task.owner})"
                row["owner"] = task.owner
            if open_ones:
                line += f" [blocked by {', '.join(f'#{number}' for number in open_ones)}]"
            lines.append(line)
            rows.append({**row, "blockedBy": open_ones})
        return ToolOutput("\n".join(lines) or "No tasks found", {"tasks": rows})
