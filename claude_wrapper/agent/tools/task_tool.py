"""What the tools that keep the list of tasks have in common: they touch no file and ask nobody."""

from __future__ import annotations

from typing import Any

from .contract import ToolContext

__all__ = ["TaskTool"]


class TaskTool:
    """A tool on the session's list of tasks."""

    changes = True

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return not self.changes

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        pass
