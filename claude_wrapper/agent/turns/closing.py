"""The end of a turn: what a reply without tool calls leads to, and what tools can end."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from claude_wrapper.agent.api.fold import Reply
from claude_wrapper.agent.calls.call import reminder
from claude_wrapper.agent.calls.structured import STRUCTURED_OUTPUT
from claude_wrapper.agent.hooks.outcome import Outcome
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.wire.codec import encode

from .stopped import Stopped
from .turn import Ending, Turn

__all__ = ["Closing"]

_MOST_STOP_BLOCKS = 8
_BAD_ANSWERS = 5
_SAY_SOMETHING = (
    "[The last reply had nothing that the user could see. Go on, and end with a text for the user.]"
)
_HAND_IN = (
    "[structured-output-enforce] You MUST call the StructuredOutput tool to complete this request. "
    "Call this tool now."
)


class Closing:
    """Decides whether a turn is over."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._stopped = Stopped(parts)
        tries = parts.settings.environ.get("MAX_STRUCTURED_OUTPUT_RETRIES", "")
        self._most_bad_answers = (
            int(tries) if tries.isascii() and tries.isdigit() and int(tries) else _BAD_ANSWERS
        )
        cap = parts.settings.environ.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "")
        self._most_blocks = (
            int(cap) if cap.isascii() and cap.isdigit() and int(cap) > 0 else _MOST_STOP_BLOCKS
        )

    async def after_text(self, turn: Turn, reply: Reply) -> Ending | None:
        """What follows a reply that calls no tool."""
        if self._stopped.concerns(reply):
            return self._stopped.after(turn, reply)
        if not _says_anything(reply) and turn.empty_nudges == 0:
            turn.empty_nudges += 1
            self._nudge(turn, _SAY_SOMETHING, hidden=True)
            return None
        if self._parts.structured and turn.answer_nudges == 0:
            turn.answer_nudges += 1
            self._nudge(turn, _HAND_IN, hidden=True)
            return None
        turn.stage = "closing"
        text = turn.last_text if _says_anything(reply) else ""
        return await self._stop_hooks(turn, text)

    def after_refusal(self, turn: Turn, reply: Reply) -> Ending | None:
        """What follows a reply that the provider stopped behind its calls, once these have run."""
        return self._stopped.after(turn, reply)

    async def answer_handed_in(self, turn: Turn, reply: Reply | None) -> Ending | None:
        """Whether the run's answer was handed in, or failed once too often."""
        handed_in: Any = UNSET
        for call in turn.calls:
            if call.name != STRUCTURED_OUTPUT:
                continue
            result = turn.results[call.id]
            if result.final is not UNSET:
                handed_in = result.final
            elif isinstance(result.content, str):
                turn.bad_answers += 1
                turn.last_bad_answer = result.content
        if handed_in is not UNSET:
            # The answer is there: hooks are told of the end, and cannot put it off.
            await self._parts.hooks.stop("", again=turn.stop_active)
            text = _said_last(reply) or encode(handed_in).decode()
            return Ending(text=text, fields={"structured_output": handed_in})
        if turn.bad_answers < self._most_bad_answers:
            return None
        turn.usage = turn.usage_before_last
        text = (
            f"No valid structured output after {turn.bad_answers} attempts; "
            f"the last one failed with: {turn.last_bad_answer}"
        )
        return Ending(
            "error_max_structured_output_retries",
            "structured_output_retry_exhausted",
            is_error=True,
            errors=[text],
        )

    async def _stop_hooks(self, turn: Turn, text: str) -> Ending | None:
        parts = self._parts
        again = turn.stop_active
        outcome = await parts.hooks.stop(text, again=again)
        if outcome.timed_out:
            parts.frames.informational(
                "Stop says: the hook gave no answer in time, so the turn ends.", "notice"
            )
        ending = self._after_stop(turn, text, outcome)
        parts.hooks.tell("Stop", "Stop", outcome)
        failed = any(reply.hook.blocks_on_failure for reply in outcome.failed)
        troubled = outcome.block is not None or outcome.troubled or failed
        if troubled and not again and not turn.stop_trouble_told:
            turn.stop_trouble_told = True
            parts.frames.notification("stop-hook-error", "A stop hook blocked or failed", "immediate")
        if ending is None and turn.stop_blocks > self._most_blocks:
            return self._overruled(turn, text, outcome)
        return ending

    def _after_stop(self, turn: Turn, text: str, outcome: Outcome) -> Ending | None:
        """What hooks make of the model's end."""
        if outcome.stop:
            return Ending(text=text, terminal_reason="stop_hook_prevented")
        if not _keeps_going(outcome):
            return Ending(text=text)
        turn.stop_blocks += 1
        turn.stop_active = True
        turn.stage = "between"
        if outcome.block is not None:
            self._nudge(turn, f"Stop hook feedback:\n{outcome.block}", hidden=True)
        if outcome.contexts:
            self._parts.session.add_note(reminder("\n".join(outcome.contexts)), hidden=True)
        return None

    def _overruled(self, turn: Turn, text: str, outcome: Outcome) -> Ending:
        """Hooks will not let the turn end: it ends all the same."""
        told = (
            f"Hooks kept the turn from ending {turn.stop_blocks} times in a row, and it ends all the same. A hook "
            "can tell by stop_hook_active that it has done so before; CLAUDE_CODE_STOP_HOOK_BLOCK_CAP sets the limit."
        )
        self._parts.frames.informational(told, "warning")
        self._parts.frames.notification("stop-hook-block-cap", told, "high", color="warning")
        return Ending(text=text if outcome.block is None else "")

    def _nudge(self, turn: Turn, text: str, *, hidden: bool = False) -> None:
        """Add a text of the agent's own to the conversation; readers of transcripts skip a hidden one."""
        uuid = self._parts.session.add_note(text, hidden=hidden)
        turn.user_messages += 1
        self._parts.frames.user(uuid, [{"type": "text", "text": text}], is_synthetic=True)


def _says_anything(reply: Reply) -> bool:
    return any(block.type == "text" and str(block.data.get("text", "")).strip() for block in reply.blocks)


def _said_last(reply: Reply | None) -> str:
    """The text that a reply ends with, if it does."""
    block = reply.blocks[-1] if reply is not None and reply.blocks else None
    return str(block.data.get("text") or "") if block is not None and block.type == "text" else ""


def _keeps_going(outcome: Outcome) -> bool:
    return outcome.block is not None or bool(outcome.contexts)
