"""One reply of the model: its stream read, its blocks written down and shown as they are finished."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

import anyio.lowlevel
from msgspec import UNSET

from claude_wrapper.agent.api.catalog import Model
from claude_wrapper.agent.api.client import ReplyStream, StandIn
from claude_wrapper.agent.api.events import BlockStart, ThinkingDelta
from claude_wrapper.agent.api.fold import Block, Reply
from claude_wrapper.agent.api.items import (
    BlockDone,
    ModelSwitch,
    RawEvent,
    ReplyAbandoned,
    ReplyDone,
    RetryNotice,
)
from claude_wrapper.agent.api.request import ModelRequest
from claude_wrapper.agent.calls.call import ToolCall
from claude_wrapper.agent.hooking.events import HookEvents
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.model.meter import Meter
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.sessions.session import Session
from claude_wrapper.wire.codec import encode
from claude_wrapper.wire.messages import AssistantBody

from .turn import Turn

__all__ = ["Asker", "ModelApi"]

_CHARACTERS_PER_TOKEN = 4
_THINKING_DELTA = ThinkingDelta.__struct_config__.tag
_STEPS_TO_BEGIN = 3
"""How many turns of the event loop a call needs to be checked and to ask its hooks."""
_NO_NAME = "tool_name_missing"
_MOST_UNREAD = 8 * 1024 * 1024


class ModelApi(Protocol):
    """Answers requests."""

    def stream(self, request: ModelRequest, stand_in: StandIn | None = None) -> ReplyStream: ...


class Output(Protocol):
    """Where frames go, as far as much output has to wait for its reader."""

    async def room(self, limit: int = 0) -> None: ...


class Asker:
    """Asks the model and shows what it says. What was said last is in `reply`, even after an interrupt."""

    def __init__(
        self,
        api: ModelApi,
        frames: Frames,
        session: Session,
        meter: Meter,
        hooks: HookEvents,
        output: Output,
        *,
        partial: bool,
        shown_input: Callable[[str, dict[str, Any]], dict[str, Any]],
        tool_meta: Callable[[str, str], dict[str, Any] | None],
        on_call: Callable[[ToolCall], None],
        on_event: Callable[[str], None],
        on_switch: Callable[[Model], None],
    ) -> None:
        self._api = api
        self._frames = frames
        self._session = session
        self._meter = meter
        self._hooks = hooks
        self._output = output
        self._partial = partial
        self._shown_input = shown_input
        self._tool_meta = tool_meta
        self._on_call = on_call
        self._on_event = on_event
        self._on_switch = on_switch
        self._stream: ReplyStream | None = None
        self._model: Model | None = None
        self._display: str | None = None
        self._thought = 0
        self._thinking_since: float | None = None
        self._unknown: set[str] = set()
        self._waiting: list[Callable[[], None]] = []

    @property
    def reply(self) -> Reply | None:
        """The reply as far as it has come, None before the first."""
        return self._stream.reply if self._stream is not None else None

    @property
    def model(self) -> Model | None:
        """The model that was asked last."""
        return self._model

    def announce(self, turn: Turn) -> None:
        """Tell a host that follows replies bit by bit that one is about to be asked for."""
        if self._partial:
            self._frames.status("requesting", user_message_uuids=turn.prompt_uuids or UNSET)

    def before_reply(self, tell: Callable[[], None]) -> None:
        """Tell something once a reply begins, or there will be none; never if the model is not asked."""
        self._waiting.append(tell)

    def forget_waiting(self) -> None:
        """The turn is over: what would have been told before a reply is not."""
        self._waiting.clear()

    def _tell_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for tell in waiting:
            tell()

    async def aside(self, request: ModelRequest) -> str:
        """The text of a reply that is no part of the conversation, though it is paid for; raises ApiError."""
        async with self._api.stream(request) as stream:
            async for _ in stream:
                pass
        self._meter.enter(stream.reply, request.model)
        return stream.reply.text

    async def ask(self, turn: Turn, request: ModelRequest, stand_in: StandIn | None = None) -> Reply:
        """Ask for a reply; raises ApiError. Each tool call goes to `on_call` once it is shown.

        `stand_in` gives the request for the next model, for when this one cannot answer.
        """
        turn.requests += 1
        turn.stage = "streaming"
        self._session.begin_reply()
        self._stream = None
        self._model = request.model
        self._display = (request.tuning.thinking or {}).get("display")
        self._thought = 0
        if not turn.asks_again:
            self.announce(turn)
        turn.asks_again = False
        turn.shown = []
        self._warn_of_unknown(request.model)
        began = time.monotonic()
        if turn.clock.requested is None:
            turn.clock.requested = began
            turn.clock.request_wall_ms = int(time.time() * 1000)
        try:
            return await self._read(turn, request, stand_in)
        finally:
            self._tell_waiting()
            spent = (time.monotonic() - began) * 1000
            turn.clock.api_ms += spent
            self._meter.api_ms += spent

    def _warn_of_unknown(self, model: Model) -> None:
        """A name that may be mistyped, or a model newer than this program: the API will tell."""
        if model.known or model.name in self._unknown:
            return
        self._unknown.add(model.name)
        fields = {"model": model.name, "query_source": "sdk"}
        sys.stderr.write(f"[claude-code:unrecognized_model] {encode(fields).decode()}\n")

    async def _read(self, turn: Turn, request: ModelRequest, stand_in: StandIn | None) -> Reply:
        whole: list[Block] = []
        async with self._api.stream(request, stand_in) as stream:
            self._stream = stream
            async for item in stream:
                if isinstance(item, RawEvent):
                    self._event(turn, stream, item)
                elif isinstance(item, BlockDone):
                    if stream.reply.head:
                        await self._block(turn, stream.reply, item.block)
                    else:
                        # The reply comes in one piece, and its head only with its end.
                        whole.append(item.block)
                elif isinstance(item, ReplyDone):
                    for block in whole:
                        await self._block(turn, item.reply, block)
                    return self._done(turn, item.reply)
                else:
                    self._setback(turn, item)
                await self._output.room(_MOST_UNREAD)
        raise AssertionError("the stream ended without a reply")

    def _setback(self, turn: Turn, item: RetryNotice | ReplyAbandoned | ModelSwitch) -> None:
        """Something went wrong, and the client knows how to go on."""
        if isinstance(item, RetryNotice):
            self._frames.api_retry(
                attempt=item.attempt,
                max_retries=item.max_retries,
                retry_delay_ms=item.delay_ms,
                error_status=item.status,
                error=item.kind,
            )
        elif isinstance(item, ModelSwitch):
            self._model = item.fallback
            self._frames.model_fallback(item.trigger, item.original.name, item.fallback.name)
            self._on_switch(item.fallback)
        else:
            self.count(turn, item.reply, billed=item.billed)
            self.end_stream(item.reply)

    def end_stream(self, reply: Reply) -> None:
        """End the events of a reply that broke off, for hosts that follow them."""
        if not self._partial or not reply.id:
            return
        begun = [block for block in reply.open_blocks if block.type != "tool_use"]
        for block in begun[:1]:
            self._frames.stream_event(
                encode({"type": "content_block_stop", "index": block.index}), api_message_id=reply.id
            )
        after = {"api_message_id": reply.id, "from_block_index": len(reply.blocks)}
        self._frames.stream_event(
            encode({"type": "message_stop"}), api_message_id=reply.id, abandoned_blocks=after
        )

    def count(self, turn: Turn, reply: Reply, *, billed: bool = True) -> None:
        """Add what a reply took to the turn, and what it cost to the session."""
        if billed and self._model is not None:
            self._meter.enter(reply, self._model)
        turn.count_reply(reply.usage)

    def _done(self, turn: Turn, reply: Reply) -> Reply:
        self.count(turn, reply)
        turn.stop_reason = reply.stop_reason
        end = {
            "stop_reason": reply.stop_reason,
            "stop_details": reply.stop_details,
            "usage": reply.usage.to_result(),
        }
        self._session.end_reply(reply.id, end)
        return reply

    def _event(self, turn: Turn, stream: ReplyStream, item: RawEvent) -> None:
        now = time.monotonic()
        kind = item.type
        if self._waiting:
            self._tell_waiting()
        if turn.clock.first_event is None:
            turn.clock.first_event = now
        if kind == "message_start":
            turn.begun.append(stream.reply.id)
            turn.first_delta = 0
        elif kind == "content_block_delta":
            turn.clock.first_token = turn.clock.first_token or now
            turn.first_delta = turn.first_delta or len(item.text)
            if item.delta_type == _THINKING_DELTA:
                self._count_thinking(turn, item.text, now)
        if self._partial and kind != "ping":
            self._pass_on(turn, stream, item, kind)
        self._on_event(kind)

    def _pass_on(self, turn: Turn, stream: ReplyStream, item: RawEvent, kind: str) -> None:
        fields: dict[str, Any] = {"api_message_id": stream.reply.id}
        if kind == "message_start":
            fields["ttft_ms"] = turn.clock.since_request(time.monotonic()) or 0
        if self._display is not None and (kind == "message_start" or _is_thinking(item)):
            fields["thinking_display"] = self._display
        if kind == "message_start" and turn.prompt_uuid is not None and len(turn.begun) == 1:
            fields["user_message_uuid"] = turn.prompt_uuid
            fields["user_message_uuids"] = turn.prompt_uuids
            fields["owed_rows"] = []
        self._frames.stream_event(bytes(item.data), **fields)

    def _count_thinking(self, turn: Turn, text: str, now: float) -> None:
        self._thinking_since = self._thinking_since or now
        before = -(-self._thought // _CHARACTERS_PER_TOKEN)
        self._thought += len(text)
        total = -(-self._thought // _CHARACTERS_PER_TOKEN)
        uuid = UNSET if turn.prompt_uuid is None else turn.prompt_uuid
        self._frames.thinking_tokens(total, total - before, uuid)

    async def _block(self, turn: Turn, reply: Reply, block: Block) -> None:
        data = block.data
        fields: dict[str, Any] = {}
        call: ToolCall | None = None
        if block.type == "text":
            text = str(data.get("text", ""))
            if text:
                turn.last_text = text
                await self._hooks.message_shown(turn.id, text)
        elif block.type == "thinking":
            since, self._thinking_since = self._thinking_since, None
            fields["thinking_duration_ms"] = int((time.monotonic() - since) * 1000) if since else 0
            if self._display is not None:
                fields["thinking_display"] = self._display
        elif block.type == "tool_use":
            data = _whole_call(data)
            data["input"] = self._shown_input(data["name"], data["input"])
            call = ToolCall(data["id"], data["name"], data["input"], block.unparsed)
            turn.calls.append(call)
            meta = self._tool_meta(data["name"], data["id"])
            if meta is not None:
                fields["tool_use_meta"] = [meta]
        self.show_block(turn, reply, data, block.index, **fields)
        if call is not None:
            self._on_call(call)
            # Blocks often come several at once; the call is to begin before the next is looked at.
            for _ in range(_STEPS_TO_BEGIN):
                await anyio.lowlevel.checkpoint()

    def show_block(self, turn: Turn, reply: Reply, data: dict[str, Any], index: int, **fields: Any) -> None:
        """Write a block down and send its frame."""
        # Of a reply that came in one piece the end is known; else it stands in the result.
        stop_reason = None if reply.streamed else reply.stop_reason
        usage = reply.head.get("usage") if reply.streamed else reply.usage.to_result()
        head = {**reply.head, "stop_reason": stop_reason, "stop_sequence": None, "stop_details": None}
        head["usage"] = reply.usage.to_result()
        requested = self._model.name if self._model is not None else None
        uuid = self._session.add_reply_block(head, data, index, requested)
        if data.get("type") == "text" and not data.get("text"):
            # Such blocks stand between calls; there is nothing to show.
            return
        if turn.prompt_uuids and not turn.answered:
            fields["user_message_uuid"] = turn.prompt_uuid or turn.prompt_uuids[0]
            fields["user_message_uuids"] = turn.prompt_uuids
        if turn.superseded:
            fields["supersedes"], turn.superseded = turn.superseded, []
        turn.shown.append(uuid)
        turn.answered = turn.answered or bool(turn.prompt_uuids)
        turn.clock.first_frame = turn.clock.first_frame or time.monotonic()
        body = AssistantBody(
            content=[data],  # type: ignore[list-item]  # the API's blocks travel as they are, whatever their type
            model=reply.model,
            id=reply.id,
            type="message",
            role="assistant",
            stop_reason=stop_reason,
            stop_sequence=None,
            usage=usage,
            context_management=None,
        )
        self._frames.assistant(uuid, body, **fields)


def _whole_call(data: dict[str, Any]) -> dict[str, Any]:
    """A call with an id and a name, whatever the model sent: without them it could not be answered."""
    call_id, name = data.get("id"), data.get("name")
    return {
        **data,
        "id": call_id if isinstance(call_id, str) and call_id else f"toolu_{new_uuid()}",
        "name": name if isinstance(name, str) and name else _NO_NAME,
        "input": data.get("input", {}),
    }


def _is_thinking(item: RawEvent) -> bool:
    """Whether an event begins a block of thinking or adds to it."""
    if isinstance(item.event, BlockStart):
        return item.event.content_block.get("type") == "thinking"
    return item.delta_type == _THINKING_DELTA
