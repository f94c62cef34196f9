"""What tools have in common that take their input as it is: no default is filled in, and no path is in it."""

from __future__ import annotations

from typing import Any

from .contract import ToolContext

__all__ = ["PlainTool"]


class PlainTool:
    """`changes` says whether its calls have to run one by one."""

    changes = True

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        return not self.changes

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return dict(tool_input)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        pass
