"""The end of a turn that was stopped half way: what was said is kept, what ran is answered for."""

from __future__ import annotations

from typing import Any

import msgspec

from claude_wrapper.wire.codec import encode

from .api.fold import Block, Reply
from .api.usage import Usage
from .parts import Parts
from .turn import Ending, Turn

__all__ = ["ending"]

_BY_USER = "[Request interrupted by user]"
_BY_USER_IN_TOOLS = "[Request interrupted by user for tool use]"


def ending(parts: Parts, turn: Turn) -> Ending:
    """Bring an interrupted turn to its end."""
    if turn.stage == "tools":
        parts.round.reject_open(turn)
        note, reason = _BY_USER_IN_TOOLS, "aborted_tools"
        kept = None
    else:
        reply = parts.asker.reply if turn.stage == "streaming" else None
        kept = _keep_reply(parts, turn, reply)
        note, reason = _BY_USER, "aborted_streaming"
    urgent = parts.queue.urgent
    if not urgent:
        _note(parts, turn, note)
    if kept is not None and parts.settings.partial_messages:
        _close_stream(parts, *kept)
    if urgent:
        return Ending(terminal_reason=reason)
    stop = "null" if turn.stop_reason is None else turn.stop_reason
    return Ending(
        "error_during_execution",
        reason,
        is_error=True,
        errors=[f"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop}"],
    )


def _keep_reply(parts: Parts, turn: Turn, reply: Reply | None) -> tuple[Reply, Block | None] | None:
    """Keep what the model had said: finished blocks are there already, a text is kept half done."""
    if reply is None or not reply.id or reply.complete:
        return None
    model = parts.asker.model
    if model is not None:
        parts.meter.enter(reply, model)
    turn.stop_reason = None
    cut = next(
        (block for block in reply.open_blocks if block.type == "text" and block.data.get("text")), None
    )
    if cut is not None:
        parts.asker.show_block(turn, reply, cut.data, cut.index, aborted=True)
    if turn.calls:
        parts.round.reject_open(turn)
    return reply, reply.open_blocks[0] if reply.open_blocks else None


def _note(parts: Parts, turn: Turn, text: str) -> None:
    uuid = parts.session.add_note(text)
    turn.user_messages += 1
    parts.frames.user(uuid, [{"type": "text", "text": text}])


def _close_stream(parts: Parts, reply: Reply, open_block: Block | None) -> None:
    """End the stream of events as the model's API would have, so that readers of it come to rest."""
    fields: dict[str, Any] = {"api_message_id": reply.id}
    after = len(reply.blocks)
    if open_block is not None:
        after = open_block.index + 1
        parts.frames.stream_event(encode({"type": "content_block_stop", "index": open_block.index}), **fields)
    change = {
        "type": "message_delta",
        "context_management": None,
        "delta": {"container": None, "stop_details": None, "stop_reason": None, "stop_sequence": None},
        "usage": _usage(reply.usage),
    }
    parts.frames.stream_event(encode(change), **fields)
    abandoned = {"api_message_id": reply.id, "from_block_index": after}
    parts.frames.stream_event(encode({"type": "message_stop"}), abandoned_blocks=abandoned, **fields)


def _usage(usage: Usage) -> dict[str, Any]:
    counted = msgspec.to_builtins(usage)
    for name in ("cache_creation", "service_tier", "inference_geo", "speed"):
        counted.pop(name, None)
    return {**counted, "iterations": [], "fallback_credit": None}
