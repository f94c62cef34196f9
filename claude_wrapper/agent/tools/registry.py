"""Which tools are built in, made when they are asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, cast

import anyio

from .contract import Tool

__all__ = [
    "BUILTIN_NAMES",
    "answered_input",
    "background_processes_ended",
    "builtin_tools",
    "end_background_processes",
    "validate_input",
]

_POLL = 0.005
_TEXTS = ("content", "old_string", "new_string")
"""The fields of what is written to files."""

_MODULES = {
    "AskUserQuestion": "ask_user_question",
    "Bash": "bash",
    "Edit": "edit",
    "EnterPlanMode": "enter_plan_mode",
    "ExitPlanMode": "exit_plan_mode",
    "Glob": "glob",
    "Grep": "grep",
    "NotebookEdit": "notebook_edit",
    "Read": "read",
    "TaskCreate": "task_create",
    "TaskGet": "task_get",
    "TaskList": "task_list",
    "TaskStop": "task_stop",
    "TaskUpdate": "task_update",
    "TodoWrite": "todo_write",
    "Write": "write",
}

BUILTIN_NAMES = tuple(_MODULES)
"""All names, in the order in which tools are listed; known without importing a tool."""


def builtin_tools(names: Iterable[str] = BUILTIN_NAMES) -> list[Tool]:
    """New tools for one session, of these names; only their modules are imported. Unknown names are left out."""
    tools: list[Tool] = []
    for name in names:
        if name in _MODULES:
            module = import_module(f"{__package__}.{_MODULES[name]}")
            make = cast("Callable[[], Tool]", getattr(module, name))
            tools.append(make())
    return tools


def validate_input(tool: Tool, tool_input: Any) -> dict[str, Any]:
    """The input in the types of the tool's schema; raises InputRejected that names every fault."""
    from .validation import validated  # noqa: PLC0415  # not before the first call

    return validated(tool.name, tool.input_schema, tool_input)


def answered_input(
    tool: Tool, prepared: dict[str, Any], asked: dict[str, Any], answered: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """The input to run after a host's answer, and whether the host wants other text; raises InputRejected.

    What the host sent back as it was asked (`for_permission` writes paths in full) counts as
    unchanged and keeps the spelling of the model; keys that no tool has are nobody's change.
    That a text goes to another file, say, is not held against the model's knowledge of it.
    """
    known = tool.input_schema.get("properties", {})
    changed = {key: value for key, value in answered.items() if key in known and asked.get(key) != value}
    kept = {key: value for key, value in prepared.items() if key in answered}
    result = validate_input(tool, {**kept, **changed})
    return result, any(result.get(name) != prepared.get(name) for name in _TEXTS)


def end_background_processes() -> None:
    """Begin to end what shell commands have left running; to be called when the session ends."""
    watch = _module("watch")
    if watch is not None:
        watch.begin_end()


async def background_processes_ended() -> None:
    """Wait, for a bounded time, until they have ended."""
    watch, leftovers = _module("watch"), _module("leftovers")
    if watch is None:
        return
    while not watch.is_over():  # noqa: ASYNC110  # the system tells nobody that others' children have gone
        await anyio.sleep(_POLL)
    if leftovers is not None:
        leftovers.let_go()


def _module(name: str) -> Any:
    """A module of the room where processes are started; None if nothing has ever been started."""
    return sys.modules.get(f"claude_wrapper.agent.processes.{name}")
