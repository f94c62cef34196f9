"""Who answers hooks that are questions or tools: the model, beside the conversation, and MCP servers."""

from __future__ import annotations

import time
from typing import Any

from .api.api_error import ApiError
from .api.catalog import find_model
from .api.client import ModelClient
from .api.request import ModelRequest
from .api.tuning import Wishes, tune
from .brief import Brief
from .hooks.prompt import INSTRUCTION, JudgeError
from .mcp.names import tool_name
from .meter import Meter
from .session import Session
from .settings import Settings
from .toolbox import Toolbox
from .tools.contract import InputRejected, ToolContext, ToolFailure

__all__ = ["HookJudge", "HookTools"]


class HookJudge:
    """Asks the model of the session, or the one that a hook names; what that costs is counted."""

    def __init__(
        self, client: ModelClient, brief: Brief, session: Session, meter: Meter, settings: Settings
    ) -> None:
        self._client = client
        self._brief = brief
        self._session = session
        self._meter = meter
        self._environ = settings.environ

    async def judge(self, text: str, model: str | None, *, with_conversation: bool) -> str:
        """See Judge."""
        chosen = self._brief.model if model is None else find_model(model, self._environ)
        history = self._session.history.messages if with_conversation else ()
        request = ModelRequest(
            model=chosen,
            messages=[*history, {"role": "user", "content": [{"type": "text", "text": text}]}],
            tuning=tune(chosen, Wishes(thinking="disabled")),
            system=(INSTRUCTION,),
            cache=None,
            session_id=self._session.id,
        )
        started = time.monotonic()
        try:
            async with self._client.stream(request) as stream:
                async for _ in stream:
                    pass
        except ApiError as error:
            raise JudgeError(error.text) from error
        self._meter.enter(stream.reply, chosen)
        self._meter.api_ms += (time.monotonic() - started) * 1000
        blocks = stream.reply.blocks
        return "".join(str(block.data.get("text", "")) for block in blocks if block.type == "text")


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
