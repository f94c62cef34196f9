"""The Agent tool: the model's way to start a subagent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from claude_wrapper.agent.tools.contract import ToolContext, ToolOutput

__all__ = ["AgentTool"]

_BEGINNING = (
    "Give a task to a subagent: another run of a model, with tools of its own, that knows nothing of this "
    "conversation. Its last text comes back as the result; the user does not see it. Use it for searches and work "
    "whose details would fill the conversation, and start several in one reply for parts that do not depend on each "
    "other. For a look into a file or two, use the tools directly. Say in the prompt all that it has to know, whether "
    "it may change anything, and what it has to report.\n"
    "By default it works in the background and its result comes in a later message; do not guess what it will be. "
    "With run_in_background false the call waits for it.\n"
    "Types of subagents:\n"
)


class AgentTool:
    """Starts subagents for one caller."""

    name = "Agent"

    def __init__(
        self,
        start: Callable[[dict[str, Any]], Awaitable[ToolOutput]],
        listing: Callable[[], list[tuple[str, str]]],
    ) -> None:
        self._start = start
        self._listing = listing

    @property
    def description(self) -> str:
        """What the model is told of the tool, and of the types that there are."""
        return _BEGINNING + "\n".join(f"- {name}: {about}" for name, about in self._listing())

    @property
    def input_schema(self) -> dict[str, Any]:
        """What a call takes."""
        text = {"type": "string"}
        return {
            "type": "object",
            "properties": {
                "description": {**text, "description": "The task in three to five words"},
                "prompt": {**text, "description": "The task, with all that has to be known for it"},
                "subagent_type": {
                    **text,
                    "description": "Which type of subagent; general-purpose if left out",
                },
                "model": {**text, "description": "Another model than the type's own: sonnet, opus or haiku"},
                "run_in_background": {"type": "boolean", "description": "false waits for the result"},
                "name": {**text, "description": "A name for it"},
            },
            "required": ["description", "prompt"],
            "additionalProperties": False,
        }

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Subagents work side by side."""
        return True

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The input as it is."""
        return dict(tool_input)

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The input as it is."""
        return dict(tool_input)

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        """Nothing is looked at before."""

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Start it; raises ToolFailure."""
        return await self._start(tool_input)
