"""The EnterPlanMode tool: the model decides to plan before it changes anything."""

from __future__ import annotations

from typing import Any, ClassVar

from .contract import ToolContext, ToolOutput
from .plain_tool import PlainTool
from .planning import planning_of

__all__ = ["EnterPlanMode"]

_DESCRIPTION = """Begin to plan: from here on nothing may be changed until the user has approved a plan.

Worth it when a task can be done in several ways that differ in what the user gets, or touches many files. \
Not for small changes, and not when only questions are to be answered."""


class EnterPlanMode(PlainTool):
    """Switches plan mode on."""

    name: ClassVar[str] = "EnterPlanMode"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        planning_of(context)

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        planning = planning_of(context)
        planning.enter()
        text = (
            "Plan mode is on. Read what you need, ask the user where the task leaves a choice, and write the plan "
            f"to {planning.file}, the only file that may change now. Then call ExitPlanMode to have it approved."
        )
        return ToolOutput(text, {"message": text})
