"""The TodoWrite tool: the model's list of what is to be done."""

from __future__ import annotations

from typing import Any, ClassVar

from .contract import ToolContext, ToolOutput
from .plain_tool import PlainTool

__all__ = ["TodoWrite"]

_DESCRIPTION = """Keep a list of the steps of a task, for yourself and for the person watching.

Worth it for work of three steps or more. Give the whole list each time. Set a step to in_progress \
before you begin it, only one at a time, and to completed as soon as it is really done."""


class TodoWrite(PlainTool):
    """The model's list of what is to be done; the list lives as long as this object."""

    name: ClassVar[str] = "TodoWrite"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "description": "The whole list",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {
                            "type": "string",
                            "minLength": 1,
                            "description": "The step: Run the tests",
                        },
                        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        "activeForm": {
                            "type": "string",
                            "minLength": 1,
                            "description": "The step while it is done: Running the tests",
                        },
                    },
                    "required": ["content", "status", "activeForm"],
                },
            },
        },
        "required": ["todos"],
        "additionalProperties": False,
    }

    def __init__(self) -> None:
        self._todos: list[dict[str, Any]] = []

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        new = [
            {key: todo[key] for key in ("content", "status", "activeForm")} for todo in tool_input["todos"]
        ]
        structured = {"oldTodos": self._todos, "newTodos": new}
        done = all(todo["status"] == "completed" for todo in new)
        self._todos = [] if done else new
        return ToolOutput("The list is noted. Go on with the step that is in progress.", structured)
