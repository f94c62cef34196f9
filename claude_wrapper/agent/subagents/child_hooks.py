"""The session's hooks, as a subagent's work is told to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import UNSET

from claude_wrapper.agent.hooking.events import FINISHED, HookEvents, HookFields
from claude_wrapper.agent.hooks.late import LateAnswers
from claude_wrapper.agent.hooks.outcome import Outcome
from claude_wrapper.agent.model.brief import Brief
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.agent.tools.contract import ToolContext
from claude_wrapper.wire.hook_turn_inputs import SubagentStartInput, SubagentStopInput

from .child_access import ChildAccess
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
                "agent_type": errand.definition.name,
            }

        fields = HookFields(common, lambda: brief.tuning.effort)
        super().__init__(parent.runner, frames, fields, LateAnswers(), context.results_dir)
        self.tasks = parent.tasks

    async def begun(self) -> list[str]:
        """The subagent begins; what hooks want it to know."""
        event = SubagentStartInput(**self.fields.bare())
        outcome = await self.occur(event, self._errand.definition.name)
        return outcome.contexts

    async def stop(self, last_text: str, *, again: bool) -> Outcome:
        """The subagent is done; hooks may have it go on."""
        if not self.has("SubagentStop"):
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
