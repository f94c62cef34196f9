"""The beginning of a turn: prompts pass the hooks, enter the conversation and are echoed."""

from __future__ import annotations

from .calls import reminder
from .hooks.outcome import Outcome
from .parts import Parts
from .prompts import Prompt
from .turn import Ending, Turn

__all__ = ["Opening"]

_BLANK = "Blank prompt — the message was only whitespace, so nothing was sent to the model."


class Opening:
    """Takes prompts up."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._first: list[Prompt] = []

    async def open(self, turn: Turn) -> Ending | None:
        """Begin a turn; an ending if nothing is to be asked of the model."""
        parts = self._parts
        self._first = list(turn.prompts)
        parts.session.begin_prompt()
        if parts.servers.servers:
            await parts.servers.ready()
        outcomes = [await parts.hooks.prompt(prompt.text) for prompt in turn.prompts]
        parts.send_init(turn.prompt_uuids)
        refused = next((outcome for outcome in outcomes if _refuses(outcome)), None)
        if refused is not None:
            return self._refused(turn, refused)
        if all(_is_blank(prompt) for prompt in turn.prompts):
            parts.frames.informational(_BLANK, "warning")
            return Ending(text=_BLANK, terminal_reason=None, stop_reason=None, timed=False)
        for prompt, outcome in zip(turn.prompts, outcomes, strict=True):
            self._take_up(prompt, outcome)
        if not any(prompt.asks_model for prompt in turn.prompts):
            return Ending(terminal_reason=None, stop_reason=None, timed=False)
        return None

    async def join(self, turn: Turn, prompts: list[Prompt]) -> None:
        """Take prompts into a running turn."""
        parts = self._parts
        for prompt in prompts:
            outcome = await parts.hooks.prompt(prompt.text)
            if _refuses(outcome):
                self._tell_refusal(prompt.text, outcome)
                parts.frames.lifecycle(prompt.uuid, "cancelled")
                continue
            self._take_up(prompt, outcome)
            parts.frames.lifecycle(prompt.uuid, "started")
            turn.prompts.append(prompt)

    def split(self, turn: Turn) -> tuple[list[Prompt], list[Prompt]]:
        """The prompts that began the turn, and those that joined it."""
        return self._first, [prompt for prompt in turn.prompts if prompt not in self._first]

    def _take_up(self, prompt: Prompt, outcome: Outcome) -> None:
        parts = self._parts
        uuid = parts.session.add_prompt(prompt.uuid, prompt.content, parts.access.mode)
        if parts.settings.replay_prompts:
            parts.frames.user(uuid, prompt.content, is_replay=True)
        if outcome.title is not None:
            parts.session.set_title(outcome.title)
            parts.frames.title_changed(outcome.title)
        for context in outcome.contexts:
            parts.session.add_note(reminder(context), hidden=True)

    def _refused(self, turn: Turn, outcome: Outcome) -> Ending:
        text = self._tell_refusal("\n".join(prompt.text for prompt in turn.prompts), outcome)
        return Ending(text=text, terminal_reason=None, stop_reason=None, timed=False)

    def _tell_refusal(self, prompt: str, outcome: Outcome) -> str:
        reason = _refusal_reason(outcome)
        text = f"UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt}"
        self._parts.frames.informational(
            text,
            "warning",
            prevent_continuation=True,
            prompt_submit_outcome={"kind": "blocked_by_hook", "prompt_kept": False, "reason": reason},
        )
        return text


def _refuses(outcome: Outcome) -> bool:
    blocked = any(reply.hook.blocks_on_failure for reply in outcome.failed)
    return outcome.block is not None or outcome.stop or outcome.timed_out or blocked


def _refusal_reason(outcome: Outcome) -> str:
    if outcome.block:
        return outcome.block
    if outcome.timed_out:
        return "The hook gave no answer in time."
    return outcome.stop_reason or "The hook gave no reason."


def _is_blank(prompt: Prompt) -> bool:
    if isinstance(prompt.content, str):
        return not prompt.content.strip()
    return not any(
        block.get("type") != "text" or str(block.get("text", "")).strip() for block in prompt.content
    )
