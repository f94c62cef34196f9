"""A question to a model beside the conversation, the cost of which is counted like everything else's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from claude_wrapper.agent.api.catalog import Model
from claude_wrapper.agent.api.client import ModelClient
from claude_wrapper.agent.api.request import ModelRequest
from claude_wrapper.agent.api.tuning import Wishes, tune
from claude_wrapper.agent.sessions.session import Session

from .meter import Meter

__all__ = ["SideQuestions"]


class SideQuestions:
    """Asks them, for a session."""

    def __init__(self, client: ModelClient, session: Session, meter: Meter) -> None:
        self._client = client
        self._session = session
        self._meter = meter

    async def ask(
        self, model: Model, instruction: str, text: str, before: Sequence[dict[str, Any]] = ()
    ) -> str:
        """The text of the model's answer, given the messages `before` the question. Raises ApiError."""
        request = ModelRequest(
            model=model,
            messages=[*before, {"role": "user", "content": [{"type": "text", "text": text}]}],
            tuning=tune(model, Wishes(thinking="disabled")),
            system=(instruction,),
            cache=None,
            session_id=self._session.id,
        )
        started = time.monotonic()
        async with self._client.stream(request) as stream:
            async for _ in stream:
                pass
        self._meter.enter(stream.reply, model)
        self._meter.api_ms += (time.monotonic() - started) * 1000
        return stream.reply.text
