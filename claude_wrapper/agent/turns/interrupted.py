"""The end of a turn that was stopped half way: what was said is kept, what ran is answered for."""

from __future__ import annotations

from typing import Any

import msgspec

from claude_wrapper.agent.api.fold import Reply
from claude_wrapper.agent.api.usage import Usage
from claude_wrapper.agent.calls.call import cut_off, rejected_by_user
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.wire.codec import encode

from .turn import Ending, Turn

__all__ = ["ending"]

_BY_USER = "[Request interrupted by user]"
_BY_USER_IN_TOOLS = "[Request interrupted by user for tool use]"


def ending(parts: Parts, turn: Turn) -> Ending:
    """Bring an interrupted turn to its end."""
    if not parts.interruption.last:
        parts.frames.session_state("running")
    if turn.when_interrupted is not None:
        return turn.when_interrupted()
    if turn.stage == "closing":
        # The work was done; only hooks were still asked about its end.
        return Ending(text=turn.last_text)
    if turn.stage == "opening":
        parts.send_init(turn.prompt_uuids)
    urgent = parts.queue.urgent
    reply = parts.asker.reply if turn.stage == "streaming" else None
    kept = _keep_text(parts, turn, reply)
    in_tools = turn.stage == "tools" or (bool(turn.calls) and reply is not None and not reply.open_blocks)
    if turn.stage in {"streaming", "tools"}:
        parts.round.close_open(turn, cut_off() if urgent else rejected_by_user())
    if parts.subagents is not None:
        parts.subagents.tell_cut_off()
    reason = "aborted_tools" if in_tools else "aborted_streaming"
    _note(parts, turn, _BY_USER_IN_TOOLS if in_tools else _BY_USER)
    if kept is not None and parts.settings.partial_messages:
        _close_stream(parts, kept)
    if urgent and _has_said(turn, reply):
        return Ending(terminal_reason=reason, text="" if in_tools else turn.last_text)
    if turn.stage in {"opening", "begun"}:
        return _ended(reason, "prompt_check: the turn was stopped before its prompt was taken up")
    stop = "null" if turn.stop_reason is None else turn.stop_reason
    return _ended(reason, f"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop}")


def _has_said(turn: Turn, reply: Reply | None) -> bool:
    """Whether the model has begun to answer the last message."""
    return turn.stage != "streaming" or (reply is not None and bool(reply.blocks or reply.open_blocks))


def _ended(reason: str, error: str) -> Ending:
    return Ending("error_during_execution", reason, is_error=True, errors=[error])


def _keep_text(parts: Parts, turn: Turn, reply: Reply | None) -> Reply | None:
    """Keep what the model was saying: finished blocks are there already, a text is kept half done.

    Returns the reply if it was broken off.
    """
    if reply is None or not reply.id or reply.complete:
        return None
    model = parts.asker.model
    if model is not None:
        parts.meter.enter(reply, model)
    turn.stop_reason = None
    for block in reply.open_blocks:
        if block.type == "text" and block.data.get("text"):
            turn.last_text = str(block.data["text"])
            parts.asker.show_block(turn, reply, block.data, block.index, aborted=True)
            break
    return reply


def _note(parts: Parts, turn: Turn, text: str) -> None:
    if parts.queue.urgent:  # the newer prompt says enough
        return
    uuid = parts.session.add_note(text)
    turn.user_messages += 1
    parts.frames.user(uuid, [{"type": "text", "text": text}])


def _close_stream(parts: Parts, reply: Reply) -> None:
    """End the stream of events as the model's API would have, so that readers of it come to rest."""
    fields: dict[str, Any] = {"api_message_id": reply.id}
    after = len(reply.blocks)
    if reply.open_blocks:
        open_block = reply.open_blocks[0]
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
