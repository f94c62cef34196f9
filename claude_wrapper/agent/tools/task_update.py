"""The TaskUpdate tool: move a task on, reword it, or let it wait for others."""

from __future__ import annotations

from typing import Any, ClassVar

from .contract import ToolContext, ToolOutput
from .plain_tool import PlainTool
from .task_book import Task, TaskBook

__all__ = ["TaskUpdate"]

_DESCRIPTION = """Change a task of the list.

Set a task to in_progress when you begin it and to completed when it is wholly done, tests and all; \
deleted takes it off the list. addBlockedBy names tasks that have to be done first."""
_TEXTS = {"subject": "subject", "description": "description", "activeForm": "active_form", "owner": "owner"}
_NUMBERS = {"type": "array", "items": {"type": "string"}}


class TaskUpdate(PlainTool):
    """Changes a task."""

    name: ClassVar[str] = "TaskUpdate"
    description: ClassVar[str] = _DESCRIPTION
    input_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "taskId": {"type": "string", "description": "The task's number"},
            "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "deleted"]},
            "subject": {"type": "string"},
            "description": {"type": "string"},
            "activeForm": {"type": "string"},
            "addBlocks": {**_NUMBERS, "description": "Tasks that wait for this one"},
            "addBlockedBy": {**_NUMBERS, "description": "Tasks that this one waits for"},
            "owner": {"type": "string", "description": "Who does it"},
            "metadata": {"type": "object", "description": "Merged into what is there; null takes a key away"},
        },
        "required": ["taskId"],
        "additionalProperties": False,
    }

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        book, number = context.tasks, tool_input["taskId"]
        task = book.find(number)
        if task is None:
            failed = {"success": False, "taskId": number, "updatedFields": [], "error": "Task not found"}
            return ToolOutput("Task not found", failed)
        if tool_input.get("status") == "completed" != task.status:
            objection = await context.objection("completed", task)
            if objection is not None:
                failed = {"success": False, "taskId": task.id, "updatedFields": [], "error": objection}
                return ToolOutput(objection, failed)
        change: dict[str, str] | None
        if tool_input.get("status") == "deleted":
            change = {"from": task.status, "to": "deleted"}
            book.remove(task)
            updated = ["deleted"]
        else:
            change, updated = _change(book, task, tool_input)
        structured: dict[str, Any] = {"success": True, "taskId": task.id, "updatedFields": updated}
        if change is not None:
            structured["statusChange"] = change
        return ToolOutput(f"Updated task #{task.id} {', '.join(updated)}".rstrip(), structured)


def _change(book: TaskBook, task: Task, wanted: dict[str, Any]) -> tuple[dict[str, str] | None, list[str]]:
    """Carry the changes out; returns that of the status, and the names of what has changed."""
    updated = []
    for key, name in _TEXTS.items():
        if key in wanted and wanted[key] != getattr(task, name):
            setattr(task, name, wanted[key])
            updated.append(key)
    if "metadata" in wanted:
        merged = {**task.metadata, **wanted["metadata"]}
        task.metadata = {key: value for key, value in merged.items() if value is not None}
        updated.append("metadata")
    change = None
    status = wanted.get("status")
    if status is not None and status != task.status:
        change = {"from": task.status, "to": status}
        task.status = status
        updated.append("status")
    for key, name in (("addBlocks", "blocks"), ("addBlockedBy", "blockedBy")):
        others = [book.find(number) for number in wanted.get(key, ())]
        known = [other for other in others if other is not None and other is not task]
        for other in known:
            book.connect(*((task, other) if name == "blocks" else (other, task)))
        if known:
            updated.append(name)
    return change, updated
