"""Making room in the course of a turn: before a request, and after one that was too long."""

from __future__ import annotations

from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.compaction.compactor import Compacted, CompactionFailedError
from claude_wrapper.agent.compaction.cut import cut, cut_when_too_long, too_little
from claude_wrapper.agent.turns.parts import Parts

from .limits import Limits
from .results import as_kept, error_body
from .turn import Ending, Turn

__all__ = ["Compacting"]

_SOON = 3
"""Requests after a compaction within which the window should not be full again."""
_MOST_REFILLS = 3
_MOST_FAILURES = 3
_TOO_LONG = "Prompt is too long"
_TOO_LITTLE = "too_few_groups"
_FULL_AGAIN = (
    "The context window was full again soon after each of the last compactions. Something that is read, or that a "
    "tool returns, is probably too large for it: take it in smaller pieces, or begin anew with /clear."
)


class Compacting:
    """Compacts the conversation by itself, as long as that helps."""

    def __init__(self, parts: Parts, limits: Limits) -> None:
        self._parts = parts
        self._limits = limits
        self._failures = 0

    async def before_request(self, turn: Turn) -> Ending | None:
        """Make room if there is little; what of it ends the turn."""
        parts = self._parts
        window = parts.compactor.window
        if not window.automatic:
            return (
                self._report(_TOO_LONG, "blocking_limit") if parts.compactor.used() >= window.last else None
            )
        if not window.chosen or self._failures >= _MOST_FAILURES or parts.compactor.used() < window.threshold:
            return None
        soon = turn.compacted_at is not None and turn.requests - turn.compacted_at <= _SOON
        turn.refills = turn.refills + 1 if soon else 0
        if turn.refills >= _MOST_REFILLS:
            return self._report(_FULL_AGAIN, "rapid_refill_breaker")
        messages = parts.session.history.messages
        keep = not turn.refills
        part = None if keep and too_little(messages) else cut(messages, keep=keep)
        if not turn.asks_again:
            parts.asker.announce(turn)
        turn.asks_again = True
        try:
            done = await parts.compactor.run("auto", part, too_little=_TOO_LITTLE)
        except CompactionFailedError:
            # Without room the conversation goes on for as long as the API takes it.
            self._failures += part is not None
            return None
        return self._go_on(turn, done)

    async def after_too_long(self, turn: Turn, error: ApiError) -> bool:
        """Make room after the API has found a request too long; whether the model is to be asked again."""
        parts = self._parts
        if not error.is_over_limit or turn.found_too_long or not parts.compactor.window.automatic:
            return False
        part = cut_when_too_long(parts.session.history.messages)
        if part is None:
            return False
        turn.found_too_long = True
        try:
            done = await parts.compactor.run("auto", part)
        except CompactionFailedError:
            return False
        turn.requests -= 1
        self._go_on(turn, done)
        return True

    def _go_on(self, turn: Turn, done: Compacted) -> Ending | None:
        """Show what the conversation goes on from, unless making it has used the money up."""
        parts = self._parts
        self._failures = 0
        turn.compacted_at = turn.requests
        parts.frames.emit(done.border)
        ending = self._limits.over_budget()
        if ending is None:
            turn.user_messages += 1
            parts.frames.user(done.uuid, [{"type": "text", "text": done.text}], is_synthetic=True)
        return ending

    def _report(self, text: str, reason: str) -> Ending:
        """Say in the conversation why it goes no further."""
        parts = self._parts
        body = error_body(text)
        uuid = parts.session.add_error_message(as_kept(body), "invalid_request")
        parts.frames.assistant(uuid, body, error="invalid_request", is_api_error_message=True)
        return Ending(
            is_error=True, text=text, terminal_reason=reason, stop_reason="stop_sequence", timed=False
        )
