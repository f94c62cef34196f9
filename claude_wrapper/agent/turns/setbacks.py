"""What a turn says, and how it goes on, when the API gives no reply or only a part of one."""

from __future__ import annotations

from typing import Any

from claude_wrapper.agent.api.api_error import ApiError, ReplyCutError
from claude_wrapper.agent.turns.parts import Parts

from .results import api_error_ending, as_kept, error_body
from .turn import Ending, Turn

__all__ = ["Setbacks"]

_MOST_CUTS = 3
_NOTHING_CAME = "API Error: The connection was lost before the model had said anything. Try again."
_GO_ON = (
    "The connection broke while your reply above was on its way. Go on at the very place where it stops: do not "
    "apologise, repeat or sum up. If nothing of it is to be seen, answer from the beginning."
)


class Setbacks:
    """Reports failures of the API in the conversation, and mends replies that broke off.

    Of a reply that broke off, calls are run and a text is gone on with. If nothing but thinking
    came, the model is asked once more as if nothing had been.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def count(self, turn: Turn, cut: ReplyCutError) -> None:
        """Enter what came of a reply, and end its stream for hosts that follow it."""
        reply = cut.reply
        if not cut.is_final:
            # What the server itself broke off has no more output than it said at the start.
            reply.complete = cut.failure.cause == "error_event"
            self._parts.asker.count(turn, reply)
        self._parts.asker.end_stream(reply)

    def report(self, error: ApiError, stop_reason: str = "stop_sequence") -> None:
        """Say in the conversation what is wrong; the model never sees it."""
        parts = self._parts
        body = error_body(error.text, stop_reason)
        uuid = parts.session.add_error_message(as_kept(body), error.kind)
        fields = {
            "api_error_status": error.status,
            "api_error_type": error.error_type,
            "api_error": error.api_error,
        }
        parts.frames.assistant(
            uuid,
            body,
            error=error.kind,
            is_api_error_message=True,
            **{name: value for name, value in fields.items() if value is not None},
        )

    async def end(self, error: ApiError) -> Ending:
        """The API gave no reply, and that ends the turn."""
        self.report(error)
        await self._parts.hooks.stop_failure(error.kind, error.text, error.details)
        return api_error_ending(error)

    async def after_cut(self, turn: Turn, cut: ReplyCutError) -> Ending | None:
        """A reply broke off that called no tool: go on with it, or end the turn."""
        if cut.is_final:
            return await self.end(cut)
        # It was one reply, however many requests it takes.
        turn.requests -= 1
        history = self._parts.session.history
        if cut.says_nothing:
            history.drop_reply()
            turn.empty_cuts += 1
            if turn.empty_cuts <= cut.max_retries:
                turn.asks_again = True
                return None
            return await self.end(ApiError(cut.failure, _NOTHING_CAME, cut.kind))
        history.mend_reply()
        turn.cuts += 1
        if turn.cuts > _MOST_CUTS:
            return await self.end(cut)
        self._nudge(turn)
        return None

    def _nudge(self, turn: Turn) -> None:
        uuid = self._parts.session.add_note(_GO_ON, hidden=True)
        turn.user_messages += 1
        content: list[Any] = [{"type": "text", "text": _GO_ON}]
        self._parts.frames.user(uuid, content, is_synthetic=True)
