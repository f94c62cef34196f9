"""The session's hooks, as a subagent's work is told to them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET

from claude_wrapper.agent.calls.structured import STRUCTURED_OUTPUT
from claude_wrapper.agent.hooking.events import FINISHED, HookEvents, HookFields
from claude_wrapper.agent.hooks.further import FurtherHooks
from claude_wrapper.agent.hooks.hook import AgentHook
from claude_wrapper.agent.hooks.late import LateAnswers
from claude_wrapper.agent.hooks.outcome import Outcome
from claude_wrapper.agent.hooks.registry import HookRegistry
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.tools.contract import ToolContext
from claude_wrapper.wire.hook_call_inputs import ToolCallBody
from claude_wrapper.wire.hook_turn_inputs import SubagentStartInput, SubagentStopInput

from .child_access import ChildAccess
from .definition_hooks import hooks_of
from .errand import Errand

__all__ = ["ChildHooks"]


class ChildHooks(HookEvents):
    """Every event names the subagent, and its end is an event of its own."""

    def __init__(
        self,
        parent: HookEvents,
        frames: Frames,
        errand: Errand,
        access: ChildAccess,
        brief: Brief,
        context: ToolContext,
        transcript: Path | None,
    ) -> None:
        self._errand = errand
        self._transcript = transcript

        def common() -> dict[str, Any]:
            return {
                **parent.fields.in_turn(),
                "cwd": str(context.cwd),
                "permission_mode": access.mode,
                "agent_id": errand.id,
                "agent_type": UNSET if errand.checks else errand.definition.name,
            }

        fields = HookFields(common, lambda: brief.tuning.effort)
        runner = parent.runner.of(_registry_of(parent.runner.registry, errand))
        super().__init__(runner, frames, fields, LateAnswers(), context.results_dir)
        self.tasks = parent.tasks

    async def begun(self) -> list[str]:
        """The subagent begins; what hooks want it to know."""
        event = SubagentStartInput(**self.fields.bare())
        outcome = await self.occur(event, self._errand.definition.name)
        return outcome.contexts

    async def after_batch(self, calls: Sequence[ToolCallBody]) -> Outcome:
        """All tools of a reply have run; whoever only checks is done with its verdict."""
        if self._errand.checks and any(call.tool_name == STRUCTURED_OUTPUT for call in calls):
            return FINISHED
        return await super().after_batch(calls)

    async def stop(self, last_text: str, *, again: bool) -> Outcome:
        """The subagent is done; hooks may have it go on."""
        if self._errand.checks or not self.has("SubagentStop"):
            return FINISHED
        event = SubagentStopInput(
            **self.fields.at_work(),
            stop_hook_active=again,
            agent_transcript_path=str(self._transcript or ""),
            last_assistant_message=last_text or UNSET,
            background_tasks=self.tasks(),
            session_crons=[],
        )
        return await self.occur(event, self._errand.definition.name, told=False)

    async def stop_failure(self, error: str, text: str, details: str | None) -> None:
        """That the API failed is told of the session's own turns only."""

    async def message_shown(self, turn_id: str, text: str) -> None:
        """So is what the user reads."""


def _registry_of(session: HookRegistry, errand: Errand) -> HookRegistry:
    """The hooks that a subagent's work is told to; what checks for a hook is not checked in its turn."""
    if errand.checks:
        return FurtherHooks(session, {}, without=(AgentHook,))
    own = hooks_of(errand.definition)
    return FurtherHooks(session, own) if own else session
