"""The frames that tell the host of one task: begun, at work, changed, over."""

from __future__ import annotations

import time
from typing import Any

from msgspec import UNSET, UnsetType

from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.wire.system_tasks import (
    TaskNotificationFrame,
    TaskPatch,
    TaskProgressFrame,
    TaskStartedFrame,
    TaskUpdatedFrame,
    TaskUsageBody,
)

from .facts import COMMAND, TaskFacts

__all__ = ["TaskNews"]


class TaskNews:
    """Sends them. `output_file` is where what the task says can be read."""

    def __init__(self, frames: Frames, facts: TaskFacts, output_file: str) -> None:
        self._frames = frames
        self._facts = facts
        self.output_file = output_file
        self._began = time.monotonic()
        # A command that is a subagent's own is the subagent's affair.
        owned = facts.kind == COMMAND and facts.parent_id is not None
        self._owned: bool | UnsetType = True if owned else UNSET

    @property
    def milliseconds(self) -> int:
        """How long the task has taken so far."""
        return int((time.monotonic() - self._began) * 1000)

    def started(self, *, background: bool) -> None:
        """The task begins, or is worth telling of from now on."""
        facts = self._facts
        self._frames.emit(
            TaskStartedFrame(
                owned_by_subagent=self._owned,
                tool_use_id=facts.call_id,
                description=facts.description,
                subagent_type=facts.subagent_type,
                is_backgrounded=background,
                spawn_depth=facts.spawn_depth,
                parent_task_id=facts.parent_id or UNSET,
                task_type=facts.kind,
                prompt=facts.prompt,
                **self._ids(),
            )
        )

    def progress(self, what: str, tool: str, tokens: int, uses: int) -> None:
        """It calls a tool."""
        self._frames.emit(
            TaskProgressFrame(
                tool_use_id=self._facts.call_id,
                description=what,
                subagent_type=self._facts.subagent_type,
                usage=TaskUsageBody(total_tokens=tokens, tool_uses=uses, duration_ms=self.milliseconds),
                last_tool_name=tool,
                **self._ids(),
            )
        )

    def moved(self) -> None:
        """Nobody waits for it any longer."""
        self._frames.emit(TaskUpdatedFrame(patch=TaskPatch(is_backgrounded=True), **self._ids()))

    def over(self, status: str, error: str | None = None) -> None:
        """Its state is final."""
        patch = TaskPatch(
            status=status, end_time=int(time.time() * 1000), error=UNSET if error is None else error
        )
        self._frames.emit(TaskUpdatedFrame(patch=patch, **self._ids()))

    def notify(
        self,
        status: str,
        summary: str,
        usage: tuple[int, int] | None = None,
        *,
        report: bool = False,
        with_file: bool = True,
    ) -> None:
        """How it ended; `report`: the summary is what it has to say."""
        used: TaskUsageBody | UnsetType = UNSET
        if usage is not None:
            tokens, uses = usage
            used = TaskUsageBody(total_tokens=tokens, tool_uses=uses, duration_ms=self.milliseconds)
        self._frames.emit(
            TaskNotificationFrame(
                owned_by_subagent=self._owned,
                tool_use_id=self._facts.call_id,
                status=status,
                output_file=self.output_file if with_file else "",
                summary=summary,
                summary_is_report=True if report else UNSET,
                usage=used,
                **self._ids(),
            )
        )

    def _ids(self) -> dict[str, Any]:
        return {
            "task_id": self._facts.id,
            "run_id": self._facts.run_id,
            "uuid": new_uuid(),
            "session_id": self._frames.session_id,
        }
