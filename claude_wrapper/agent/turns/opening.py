"""The beginning of a turn: prompts pass the hooks, enter the conversation and are echoed."""

from __future__ import annotations

from functools import partial
from typing import Any

from claude_wrapper.agent.calls.call import reminder
from claude_wrapper.agent.calls.planning import plan_reminder
from claude_wrapper.agent.hooking.instructions import instructions_loaded
from claude_wrapper.agent.hooks.outcome import Outcome
from claude_wrapper.agent.host.prompts import Prompt, merged
from claude_wrapper.agent.model.allowed import tell_replaced
from claude_wrapper.agent.turns.parts import Parts

from .custom_commands import CommandBlockedError, CommandFailedError, Expansion
from .local_commands import LocalCommand, LocalCommands, local_command
from .turn import Ending, Turn

__all__ = ["Opening"]

_NEWS = "This is news of work in the background. The user has said, confirmed and allowed nothing with it."
_BLANK = "Blank prompt — the message was only whitespace, so nothing was sent to the model."


class Opening:
    """Takes prompts up."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._first: list[Prompt] = []
        self._told_to_plan = False
        self._title = parts.settings.session.title
        self._commands = LocalCommands(parts, parts.begin_anew, disabled=parts.settings.no_commands)

    def takes(self, turn: Turn) -> None:
        """The prompts of a turn are those that begin it."""
        self._first = list(turn.prompts)

    async def open(self, turn: Turn) -> Ending | None:
        """Begin a turn; an ending if nothing is to be asked of the model."""
        parts = self._parts
        self.takes(turn)
        prompt = merged(turn.prompts)
        parts.session.begin_prompt()
        if parts.servers.servers:
            await parts.servers.ready()
        command = local_command(prompt)
        if command is not None:
            return await self._commands.answer(turn, prompt, command)
        if not parts.memory.begun:
            await instructions_loaded(parts.hooks, parts.memory.begin(), of_host=True)
        outcome = await parts.hooks.prompt(prompt.text)
        if not _refuses(outcome) and not _is_blank(prompt):
            self._entitle(outcome)
        parts.send_init(turn.prompt_uuids)
        parts.hooks.tell_problems()
        replaced = parts.brief.take_replaced()
        if replaced is not None:
            tell_replaced(parts.frames, replaced, "start")
        turn.stage = "begun"
        if _refuses(outcome):
            return Ending(
                text=self._refuse(prompt, outcome), terminal_reason=None, stop_reason=None, timed=False
            )
        if _is_blank(prompt):
            parts.frames.informational(_BLANK, "warning")
            return Ending(text=_BLANK, terminal_reason=None, stop_reason=None, timed=False)
        expansion = await self._expanded(prompt)
        if isinstance(expansion, Ending):
            return expansion
        await parts.hooks.all_known()
        self._take_up(prompt, outcome, expansion, turn)
        if not prompt.asks_model:
            return Ending(terminal_reason=None, stop_reason=None, timed=False)
        turn.stage = "between"
        return None

    async def _expanded(self, prompt: Prompt) -> Expansion | Ending | None:
        """What the command in a prompt stands for, if there is one; an ending if it comes to nothing."""
        parts = self._parts
        try:
            return await parts.custom.expand(prompt) if parts.custom is not None else None
        except CommandBlockedError as blocked:
            parts.frames.informational(str(blocked), "warning", prevent_continuation=True)
            return Ending(text=str(blocked), terminal_reason=None, stop_reason=None, timed=False)
        except CommandFailedError as failure:
            if failure.shown is not None:
                return self._commands.refused(prompt, LocalCommand(*failure.shown), str(failure))
            return self._commands.failed(prompt, failure.head or prompt.text, str(failure))

    async def join(self, turn: Turn, prompts: list[Prompt]) -> None:
        """Take prompts into a running turn."""
        parts = self._parts
        self._tell_remarks()
        for prompt in prompts:
            if prompt.origin is not None:
                # It comes from no person: hooks of prompts have nothing to say, and the result stays the turn's own.
                parts.session.add_note(_told_by_harness(prompt.text), hidden=True)
                continue
            outcome = await parts.hooks.prompt(prompt.text)
            if _refuses(outcome):
                self._refuse(prompt, outcome)
                parts.frames.lifecycle(prompt.uuid, "cancelled")
                continue
            self._entitle(outcome)
            self._take_up(prompt, outcome)
            parts.frames.lifecycle(prompt.uuid, "started")
            turn.prompts.append(prompt)

    def split(self, turn: Turn) -> tuple[list[Prompt], list[Prompt]]:
        """The prompts that began the turn, and those that joined it."""
        return self._first, [prompt for prompt in turn.prompts if prompt not in self._first]

    def _take_up(
        self, prompt: Prompt, outcome: Outcome, expansion: Expansion | None = None, turn: Turn | None = None
    ) -> None:
        """Put a prompt into the conversation; `turn` is the one that it begins."""
        parts = self._parts
        for context in parts.hooks.take_first():
            parts.session.add_note(reminder(context), hidden=True)
        self._tell_remarks()
        for text in parts.servers.untold():
            parts.session.add_note(reminder(text), hidden=True)
        self._tell_of_planning()
        content = prompt.content if expansion is None else expansion.head
        if prompt.origin is not None:
            content = _told_by_harness(prompt.text)
        mode = parts.access.mode if expansion is None else None
        uuid = parts.session.add_prompt(prompt.uuid, content, mode)
        for text in () if expansion is None else (expansion.body, *expansion.notes):
            parts.session.add_note(text, hidden=True)
        if parts.checkpoints is not None:
            parts.checkpoints.begin(uuid)
        if parts.settings.replay_prompts and not prompt.is_synthetic:
            echo = partial(parts.frames.user, uuid, prompt.content, is_replay=True, origin=prompt.told_origin)
            if turn is not None and prompt.asks_model:
                parts.asker.before_reply(echo)
            else:
                echo()
        if self._title:
            parts.session.set_title(self._title)
            self._title = None
        parts.hooks.tell("UserPromptSubmit", "UserPromptSubmit", outcome)
        for context in (*outcome.contexts, *parts.hooks.take_late()):
            parts.session.add_note(reminder(context), hidden=True)

    def _tell_remarks(self) -> None:
        for remark in self._parts.queue.take_remarks():
            self._parts.session.add_note(_told_by_harness(remark), hidden=True)

    def _entitle(self, outcome: Outcome) -> None:
        """Take over the title that a hook has for the session; it goes before one of the flags."""
        if outcome.title is not None:
            self._title = None
            self._parts.session.set_title(outcome.title)
            self._parts.frames.title_changed(outcome.title)

    def _tell_of_planning(self) -> None:
        """Tell the model once that it is to plan, and again when planning begins anew."""
        policy = self._parts.access.policy
        planning = policy.mode == "plan"
        if planning and not self._told_to_plan:
            self._parts.session.add_note(reminder(plan_reminder(policy.plan_file)), hidden=True)
        self._told_to_plan = planning

    def _refuse(self, prompt: Prompt, outcome: Outcome) -> str:
        """Say that a prompt goes no further; returns the text."""
        if outcome.stop and outcome.block is None:
            reason = outcome.stop_reason or "no reason given"
            text = f"Operation stopped by hook: {reason}"
            kind: dict[str, Any] = {"kind": "stopped_by_hook", "prompt_kept": True, "reason": reason}
            self._parts.session.add_prompt(prompt.uuid, prompt.content, self._parts.access.mode)
        elif outcome.block is not None:
            reason = outcome.block or "no reason given"
            text = f"UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt.text}"
            bare = outcome.block_reason or reason
            kind = {"kind": "blocked_by_hook", "prompt_kept": False, "reason": bare}
        else:
            what = "gave no answer in time" if outcome.timed_out else "gave no usable answer"
            text = f"UserPromptSubmit operation blocked by hook:\nThe hook {what}"
            kind = {"kind": "no_verdict", "prompt_kept": False, "no_verdict_kind": "callback_timed_out"}
            if not outcome.timed_out:
                self._parts.hooks.tell("UserPromptSubmit", "UserPromptSubmit", outcome)
                kind |= {"no_verdict_kind": "hook_failed", "reason": f"The hook {what}."}
        self._parts.frames.informational(
            text, "warning", prevent_continuation=True, prompt_submit_outcome=kind
        )
        return text


def _told_by_harness(text: str) -> str:
    """News of work in the background, which nobody may take for the user's words."""
    return text if text.startswith("<system-reminder>") else reminder(f"{_NEWS}\n\n{text}")


def _refuses(outcome: Outcome) -> bool:
    blocked = any(reply.hook.blocks_on_failure for reply in outcome.failed)
    return outcome.block is not None or outcome.stop or outcome.timed_out or blocked


def _is_blank(prompt: Prompt) -> bool:
    if isinstance(prompt.content, str):
        return not prompt.content.strip()
    return not any(
        block.get("type") != "text" or str(block.get("text", "")).strip() for block in prompt.content
    )
