"""Which tools are built in, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, cast

from .contract import Tool

__all__ = ["BUILTIN_NAMES", "answered_input", "builtin_tools", "end_background_processes", "validate_input"]

_MODULES = {
    "Bash": "bash",
    "Edit": "edit",
    "Glob": "glob",
    "Grep": "grep",
    "Read": "read",
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
    """The input to run after a host's answer, and whether the host has changed it; raises InputRejected.

    What the host sent back as it was asked (`for_permission` writes paths in full) counts as
    unchanged and keeps the spelling of the model; keys that no tool has are nobody's change.
    """
    known = tool.input_schema.get("properties", {})
    changed = {key: value for key, value in answered.items() if key in known and asked.get(key) != value}
    kept = {key: value for key, value in prepared.items() if key in answered}
    result = validate_input(tool, {**kept, **changed})
    return result, result != prepared


def end_background_processes() -> None:
    """Kill what shell commands have left running; to be called when the session ends."""
    import sys  # noqa: PLC0415

    leftovers = sys.modules.get(f"{__package__}.leftovers")
    if leftovers is not None:  # else no shell has ever run
        leftovers.end_leftovers()
