"""The ExitPlanMode tool: the plan is shown to the user, whose approval ends plan mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from .atomic import create_file, replace_file
from .contract import InputRejected, ToolContext, ToolFailure, ToolOutput
from .planning import planning_of

__all__ = ["ExitPlanMode"]

_DESCRIPTION = """Show your plan to the user and ask them to approve it; when they do, plan mode ends.

Call it once the plan is complete and written to the plan file: the plan is read from there, it is no parameter. \
Only for plans of changes that you are going to make; what you merely found out belongs into your answer."""
_APPROVED = "User has approved exiting plan mode. You can now proceed."
_EDITED = "planWasEdited"
_FROM_FILE = "planFilePath"
_MOST_BYTES = 1024 * 1024


class ExitPlanMode:
    """Ends plan mode."""

    name: ClassVar[str] = "ExitPlanMode"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "allowedPrompts": {
                "type": "array",
                "description": "What commands the plan will need, in words",
                "items": {
                    "type": "object",
                    "properties": {
                        "tool": {"type": "string", "enum": ["Bash"]},
                        "prompt": {"type": "string", "description": "Such as: run the tests"},
                    },
                    "required": ["tool", "prompt"],
                },
            },
        },
        "additionalProperties": True,
    }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return False

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The plan that counts is the one in the file, once there is one."""
        kept = {key: value for key, value in tool_input.items() if key != _FROM_FILE}
        planning = context.planning
        plan = _read(planning.file) if planning is not None else None
        if planning is None or plan is None:
            return kept
        return {**kept, "plan": plan, _FROM_FILE: str(planning.file)}

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        known = {"allowedPrompts", "plan", _FROM_FILE} if _FROM_FILE in tool_input else {"allowedPrompts"}
        return {key: value for key, value in tool_input.items() if key in known}

    def with_answer(self, tool_input: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """The call with the plan as the user wants it."""
        plan = answer.get("plan")
        if not isinstance(plan, str) or (_FROM_FILE in tool_input and plan == tool_input.get("plan")):
            return tool_input
        return {**tool_input, "plan": plan, _EDITED: True}

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        if not planning_of(context).active:
            raise InputRejected(
                "You are not in plan mode. Call EnterPlanMode to plan; if a plan was approved, carry it out."
            )

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        planning = planning_of(context)
        edited = tool_input.get(_EDITED) is True
        plan = tool_input.get("plan") if edited or _FROM_FILE in tool_input else None
        if edited and isinstance(plan, str):
            _write(planning.file, plan.encode("utf-8", "replace"))
        planning.leave()
        structured: dict[str, Any] = {"plan": plan, "isAgent": False, "filePath": str(planning.file)}
        if edited:
            structured["planWasEdited"] = True
        if not isinstance(plan, str) or not plan.strip():
            return ToolOutput(_APPROVED, structured)
        title = "The plan, as the user changed it" if edited else "The plan"
        text = (
            "User has approved your plan. Carry it out now, and keep track of its steps as you go.\n\n"
            f"It stays in {planning.file}, should you need it again.\n\n## {title}\n{plan}"
        )
        return ToolOutput(text, structured)


def _write(path: Path, data: bytes) -> None:
    try:
        if path.exists():
            replace_file(path, data, path.stat())
        else:
            create_file(path, data)
    except OSError as error:
        raise ToolFailure(f"The plan cannot be written to {path}: {error.strerror or error}") from error


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
