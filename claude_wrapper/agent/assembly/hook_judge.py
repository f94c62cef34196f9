"""Who answers hooks that are questions or tools: the model, beside the conversation, and MCP servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.api.catalog import find_model
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.hooks.prompt import INSTRUCTION, JudgeError, Verdict
from claude_wrapper.agent.mcp.names import tool_name
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.model.side_question import SideQuestions
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.subagents.ground import Ground
from claude_wrapper.agent.tools.contract import InputRejected, ToolContext, ToolFailure

__all__ = ["HookChecker", "HookJudge", "HookTools"]


class HookJudge:
    """Asks the model of the session, or the one that a hook names; what that costs is counted."""

    def __init__(self, questions: SideQuestions, brief: Brief, session: Session, settings: Settings) -> None:
        self._questions = questions
        self._brief = brief
        self._session = session
        self._environ = settings.environ

    async def judge(self, text: str, model: str | None, *, with_conversation: bool) -> str:
        """See Judge."""
        chosen = self._brief.model if model is None else find_model(model, self._environ)
        history = self._session.history.messages if with_conversation else ()
        try:
            return await self._questions.ask(chosen, INSTRUCTION, text, history)
        except ApiError as error:
            raise JudgeError(error.text) from error


class HookChecker:
    """Lets a model look around with the session's tools."""

    def __init__(self, ground: Callable[[], Ground | None]) -> None:
        self._ground = ground

    async def check(self, text: str, model: str | None) -> Verdict | None:
        """See Checker."""
        from claude_wrapper.agent.subagents.checker import check  # noqa: PLC0415  # few sessions have such a hook

        ground = self._ground()
        return None if ground is None else await check(ground, text, model)


class HookTools:
    """Calls tools that are in the toolbox."""

    def __init__(self, toolbox: Toolbox, context: ToolContext) -> None:
        self._toolbox = toolbox
        self._context = context

    async def call_tool(self, server: str, tool: str, arguments: dict[str, Any]) -> str | None:
        """See ToolCaller."""
        found = self._toolbox.find(tool_name(server, tool))
        if found is None:
            return None
        try:
            content = (await found.run(arguments, self._context)).content
        except (ToolFailure, InputRejected):
            return None
        if isinstance(content, str):
            return content
        return "\n".join(block["text"] for block in content if isinstance(block.get("text"), str))
