"""Having the model write a summary, and asking again where what comes is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.api.client import ReplyStream, StandIn
from claude_wrapper.agent.api.items import ModelSwitch, ReplyAbandoned
from claude_wrapper.agent.api.request import ModelRequest
from claude_wrapper.agent.model.meter import Meter

from .cut import Cut, Message, shorter
from .summary import as_asked, instruction, with_instruction

__all__ = ["NoSummaryError", "SummaryWriter"]

_MOST_SHORTENINGS = 3
_REFUSED = "the model declined to write the summary"
_EMPTY = "the model wrote no summary"


RequestOf = Callable[[list[Message]], ModelRequest]
"""Makes the request that brings these messages to the model."""


class NoSummaryError(Exception):
    """There is no summary; the text says why."""


class ModelApi(Protocol):
    """Answers requests."""

    def stream(self, request: ModelRequest, stand_in: StandIn | None = None) -> ReplyStream: ...


class SummaryWriter:
    """Asks for summaries. What they cost is counted; `stand_in` names the models that may write them instead."""

    def __init__(self, api: ModelApi, meter: Meter, stand_in: StandIn) -> None:
        self._api = api
        self._meter = meter
        self._stand_in = stand_in

    async def write(self, request_of: RequestOf, part: Cut, wishes: Sequence[str]) -> str:
        """The reply that has the summary of a part of the conversation. Raises NoSummaryError.

        The requests are made as the conversation's own are, but for their end, so that the provider has most of them.
        """
        messages = part.summed
        reply = await self._shortened(request_of, messages, wishes, again=False)
        if reply.strip() and not as_asked(reply):
            reply = await self._shortened(request_of, messages, wishes, again=True)
        if not reply.strip():
            reply = await self._shortened(request_of, part.least, wishes, again=False)
        if not reply.strip():
            raise NoSummaryError(_EMPTY)
        return reply

    async def _shortened(
        self, request_of: RequestOf, messages: Sequence[Message], wishes: Sequence[str], *, again: bool
    ) -> str:
        """Ask, and leave out the oldest messages as long as the API finds it too long."""
        left: Sequence[Message] | None = messages
        for _ in range(1 + _MOST_SHORTENINGS):
            if left is None:
                break
            try:
                text = instruction(wishes, again=again)
                return await self._ask(request_of(with_instruction(left, text)))
            except ApiError as error:
                if not error.is_over_limit:
                    raise NoSummaryError(error.text) from error
                failure = error
                left = shorter(left)
        raise NoSummaryError(failure.text) from failure

    async def _ask(self, request: ModelRequest) -> str:
        started, model = time.monotonic(), request.model
        stream = self._api.stream(replace(request, aside=True), self._stand_in)
        try:
            async with stream:
                async for item in stream:
                    if isinstance(item, ModelSwitch):
                        model = item.fallback
                    elif isinstance(item, ReplyAbandoned) and item.billed:
                        self._meter.enter(item.reply, model)
        finally:
            self._meter.api_ms += (time.monotonic() - started) * 1000
            if stream.reply.id:
                self._meter.enter(stream.reply, model)
        reply = stream.reply
        if reply.stop_reason == "refusal":
            raise NoSummaryError(_REFUSED)
        return reply.text
