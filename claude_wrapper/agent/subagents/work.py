"""One subagent at work: from its first message to what it hands back."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import msgspec

from claude_wrapper.agent.calls.call import ToolCall, reminder
from claude_wrapper.agent.calls.toolbox import Toolbox
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.tasks.news import TaskNews
from claude_wrapper.agent.turns import interrupted
from claude_wrapper.agent.turns.loop import Loop
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.agent.turns.turn import Ending, Turn
from claude_wrapper.store.append import TranscriptWriter
from claude_wrapper.wire.codec import encode

from .child_frames import ChildFrames
from .child_parts import child_parts
from .errand import Errand
from .ground import Ground
from .report import Deeds, Report, described, made_harmless, stopped_early

__all__ = ["BudgetSpentError", "FailedError", "Work"]


class FailedError(Exception):
    """A subagent came to no good end; the text says why."""


class BudgetSpentError(Exception):
    """The money is spent, and nobody goes on."""


class Work:
    """Runs one subagent. What it has done so far is in `deeds`, also when it is stopped."""

    def __init__(
        self,
        ground: Ground,
        caller: Parts,
        errand: Errand,
        toolbox: Toolbox,
        frames: ChildFrames,
        told: TaskNews,
        transcript: TranscriptWriter | None,
    ) -> None:
        self._errand = errand
        self._frames = frames
        self._told = told
        self._transcript = transcript
        self.parts, self._hooks = child_parts(ground, caller, errand, toolbox, frames, transcript)
        self.deeds = Deeds()
        self._turn = Turn([], new_uuid())
        frames.on_call = self._called

    @property
    def model(self) -> str:
        """The model that it asks."""
        return self.parts.brief.model.name

    async def run(self) -> Report:
        """Carry the errand out; its report. Raises FailedError and BudgetSpentError."""
        parts, errand = self.parts, self._errand
        contexts = await self._hooks.begun()
        uuid = parts.session.add_prompt(None, errand.prompt, parts.access.mode)
        self._frames.prompt(uuid, errand.prompt)
        for context in contexts:
            parts.session.add_note(reminder(context), hidden=True)
        self._describe(finished=False)
        try:
            # One that a turn waits for is stopped with that turn.
            with parts.interruption.turn() if errand.background else nullcontext():
                ending = await Loop(parts).work(self._turn)
        finally:
            self._take_usage()
            with anyio.CancelScope(shield=True):
                await parts.commands.end()
        report = self._report(ending)
        self._describe(finished=True)
        return report

    def cut_off(self, *, shown: bool) -> None:
        """It was stopped half way: write down what that left, for the host to see or not."""
        if not shown:
            self._frames.mute()
        interrupted.ending(self.parts, self._turn)

    def close(self) -> None:
        """Let go of the transcript."""
        if self._transcript is not None:
            self._transcript.close()

    def _report(self, ending: Ending) -> Report:
        turn = self._turn
        if ending.subtype == "error_max_budget_usd":
            raise BudgetSpentError
        if ending.subtype == "error_max_turns":
            return stopped_early(self._errand.definition.max_turns or 0, made_harmless(turn.last_text))
        if ending.is_error:
            text = ending.text or "; ".join(ending.errors)
            raise FailedError(f"Agent terminated early due to an API error: {text}")
        return made_harmless((ending.text or turn.last_text).strip())

    def _called(self, block: dict[str, Any]) -> None:
        """Note a call and tell the host of it."""
        call = ToolCall(block["id"], block["name"], block["input"])
        self.deeds.calls.append(call)
        tool = self.parts.toolbox.find(call.name)
        if tool is not None:
            self.deeds.used.append(tool.name)
        self._take_usage()
        # Of a reply that is still on its way no more is known than how it began.
        usage = self.deeds.usage
        tokens = usage.prompt_tokens + (self._turn.first_delta // 4 or usage.output_tokens)
        self._told.progress(described(call), call.name, tokens, len(self.deeds.calls))

    def _take_usage(self) -> None:
        reply = self.parts.asker.reply
        if reply is not None and reply.id:
            self.deeds.usage = reply.usage

    def _describe(self, *, finished: bool) -> None:
        """Write down, beside the transcript, what subagent it is of."""
        if self._transcript is None:
            return
        errand = self._errand
        about: dict[str, Any] = {
            "agentType": errand.definition.name,
            "isBuiltIn": errand.definition.built_in,
            "description": errand.description,
            "toolUseId": errand.call_id,
            "spawnDepth": errand.depth,
            "model": self.model,
        }
        if errand.parent_id is not None:
            about["parentAgentId"] = errand.parent_id
        if finished:
            about["finished"] = True
        _write(self._transcript.path.with_suffix(".meta.json"), about)


def _write(path: Path, about: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(encode(about), indent=0))
        path.chmod(0o600)
    except OSError:
        # It only describes: the transcript's own lines say which agent wrote them.
        return
