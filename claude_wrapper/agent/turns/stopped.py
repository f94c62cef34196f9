"""Replies that stopped before they were done: too long, refused, paused, or without the call they announce."""

from __future__ import annotations

from typing import Any

from claude_wrapper.agent.api.fold import Reply
from claude_wrapper.agent.turns.parts import Parts

from .results import as_kept, error_body
from .turn import Ending, Turn

__all__ = ["Stopped"]

_MOST_LENGTH_NUDGES = 3
_MOST_CALL_NUDGES = 2
_MOST_PAUSES = 25
_GO_ON = (
    "Output token limit hit. Resume directly at the word where the text broke off: do not apologise, repeat or "
    "sum up. Divide what is left into smaller pieces."
)
_REFUSED = (
    "The provider's safeguards stopped the reply above. If the task can be done without what set them off, "
    "do that part; if it cannot, say so in a sentence."
)
_NO_CALL = "The last reply was to call a tool, but no call came through. Make the call now."
_STILL_NO_CALL = (
    "The model wanted to call a tool, and its call could not be read, not even when it tried again."
)


class Stopped:
    """Goes on with replies that stopped too early, as often as that makes sense."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def concerns(self, reply: Reply) -> bool:
        """Whether the reply stopped for such a reason."""
        return reply.stop_reason in {
            "max_tokens",
            "model_context_window_exceeded",
            "refusal",
            "pause_turn",
            "tool_use",
        }

    def after(self, turn: Turn, reply: Reply) -> Ending | None:
        """What follows; None to ask the model again."""
        if reply.stop_reason == "refusal":
            return self._refusal(turn, reply)
        if reply.stop_reason == "pause_turn":
            return self._pause(turn)
        if reply.stop_reason == "tool_use":
            return self._no_call(turn)
        return self._too_long(turn)

    def _too_long(self, turn: Turn) -> Ending | None:
        if turn.length_nudges < _MOST_LENGTH_NUDGES:
            turn.length_nudges += 1
            self._nudge(turn, _GO_ON)
            return None
        limit = self._parts.brief.tuning.max_tokens
        text = (
            f"API Error: the reply is longer than the limit of {limit} output tokens. "
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS sets another limit."
        )
        return self._error(text, "max_output_tokens", api_error="max_output_tokens")

    def _pause(self, turn: Turn) -> Ending | None:
        """The server's own tools need more time: the reply goes back as it is, and is gone on with."""
        turn.pauses += 1
        if turn.pauses <= _MOST_PAUSES:
            turn.requests -= 1
            return None
        return self._error("API Error: the server paused its reply again and again.", "server_error")

    def _no_call(self, turn: Turn) -> Ending | None:
        """The model says that it calls a tool, and does not: what it said is taken back."""
        parts = self._parts
        turn.call_nudges += 1
        if turn.call_nudges > _MOST_CALL_NUDGES:
            return self._error(
                _STILL_NO_CALL,
                None,
                terminal_reason="malformed_tool_use_exhausted",
                api_error="malformed_tool_use_exhausted",
            )
        parts.session.history.drop_reply()
        shown, turn.shown = turn.shown, []
        turn.superseded = shown
        self._nudge(turn, _NO_CALL, retracted_message_uuids=shown)
        return None

    def _refusal(self, turn: Turn, reply: Reply) -> Ending | None:
        parts = self._parts
        model = parts.brief.answering.name
        if turn.refusals == 0:
            turn.refusals += 1
            parts.frames.informational(
                f"{model} declined to go on; it is asked once more, and told so.", "notice"
            )
            self._nudge(turn, _REFUSED, refused_message_id=reply.id, refusal_retry=True)
            return None
        text = (
            f"API Error: {model} declined to answer this request, as its provider's usage policy may demand."
        )
        parts.frames.refused(model, parts.session.prompt_entry)
        return self._error(text, "invalid_request", "refusal", refused_message_id=reply.id)

    def _nudge(self, turn: Turn, text: str, **fields: Any) -> None:
        """Add a text of the agent's own to the conversation."""
        uuid = self._parts.session.add_note(text, hidden=True)
        turn.user_messages += 1
        self._parts.frames.user(uuid, [{"type": "text", "text": text}], is_synthetic=True, **fields)

    def _error(
        self,
        text: str,
        kind: str | None,
        stop_reason: str = "stop_sequence",
        *,
        terminal_reason: str = "api_error",
        api_error: str | None = None,
        refused_message_id: str | None = None,
    ) -> Ending:
        parts = self._parts
        body = error_body(text, stop_reason)
        uuid = parts.session.add_error_message(as_kept(body), kind)
        given = {"error": kind, "api_error": api_error, "refused_message_id": refused_message_id}
        fields = {name: value for name, value in given.items() if value is not None}
        parts.frames.assistant(uuid, body, is_api_error_message=True, **fields)
        return Ending(
            is_error=True,
            text=text,
            terminal_reason=terminal_reason,
            stop_reason=stop_reason,
            fields={} if api_error is None else {"api_error": api_error},
            timed=False,
        )
