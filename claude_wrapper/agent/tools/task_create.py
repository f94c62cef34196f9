"""The TaskCreate tool: put a step of the work on the list."""

from __future__ import annotations

from typing import Any, ClassVar

from .contract import ToolContext, ToolFailure, ToolOutput
from .plain_tool import PlainTool

__all__ = ["TaskCreate"]

_DESCRIPTION = """Put a task on the list of this session.

For work of three steps or more: the list keeps you, and the user who watches, aware of what is left. \
A task begins as pending; TaskUpdate moves it on."""


class TaskCreate(PlainTool):
    """Adds a task."""

    name: ClassVar[str] = "TaskCreate"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "subject": {"type": "string", "description": "The task in a few words: Fix the parser"},
            "description": {"type": "string", "description": "What is to be done, in full"},
            "activeForm": {"type": "string", "description": "The task while it is done: Fixing the parser"},
            "metadata": {"type": "object", "description": "Whatever else belongs to it"},
        },
        "required": ["subject", "description"],
        "additionalProperties": False,
    }

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        task = context.tasks.add(tool_input["subject"], tool_input["description"])
        task.active_form = tool_input.get("activeForm")
        task.metadata = dict(tool_input.get("metadata") or {})
        objection = await context.objection("created", task)
        if objection is not None:
            context.tasks.remove(task)
            raise ToolFailure(objection.strip())
        structured = {"task": {"id": task.id, "subject": task.subject, "description": task.description}}
        return ToolOutput(f"Task #{task.id} created successfully: {task.subject}", structured)
