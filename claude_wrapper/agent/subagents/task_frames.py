"""The frames that tell the host of one subagent as a task: begun, at work, changed, over."""

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

from .errand import Errand

__all__ = ["TaskFrames"]

_TASK_TYPE = "local_agent"


class TaskFrames:
    """Sends them. `output_file` is where the task's transcript can be read."""

    def __init__(self, frames: Frames, errand: Errand, output_file: str) -> None:
        self._frames = frames
        self._errand = errand
        self._output_file = output_file
        self._began = time.monotonic()

    @property
    def milliseconds(self) -> int:
        """How long the task has taken so far."""
        return int((time.monotonic() - self._began) * 1000)

    def started(self) -> None:
        """The subagent begins."""
        errand = self._errand
        self._frames.emit(
            TaskStartedFrame(
                tool_use_id=errand.call_id,
                description=errand.description,
                subagent_type=errand.definition.name,
                is_backgrounded=errand.background,
                spawn_depth=errand.depth,
                parent_task_id=errand.parent_id or UNSET,
                task_type=_TASK_TYPE,
                prompt=errand.prompt,
                **self._ids(),
            )
        )

    def progress(self, what: str, tool: str, tokens: int, uses: int) -> None:
        """It calls a tool."""
        self._frames.emit(
            TaskProgressFrame(
                tool_use_id=self._errand.call_id,
                description=what,
                subagent_type=self._errand.definition.name,
                usage=TaskUsageBody(total_tokens=tokens, tool_uses=uses, duration_ms=self.milliseconds),
                last_tool_name=tool,
                **self._ids(),
            )
        )

    def over(self, status: str, error: str | None = None) -> None:
        """Its state is final."""
        patch = TaskPatch(
            status=status, end_time=int(time.time() * 1000), error=UNSET if error is None else error
        )
        self._frames.emit(TaskUpdatedFrame(patch=patch, **self._ids()))

    def notify(self, status: str, summary: str, usage: tuple[int, int] | None, *, report: bool) -> None:
        """How it ended."""
        used: TaskUsageBody | UnsetType = UNSET
        if usage is not None:
            tokens, uses = usage
            used = TaskUsageBody(total_tokens=tokens, tool_uses=uses, duration_ms=self.milliseconds)
        self._frames.emit(
            TaskNotificationFrame(
                tool_use_id=self._errand.call_id,
                status=status,
                output_file=self._output_file,
                summary=summary,
                summary_is_report=True if report else UNSET,
                usage=used,
                **self._ids(),
            )
        )

    def _ids(self) -> dict[str, Any]:
        return {
            "task_id": self._errand.id,
            "run_id": self._errand.run_id,
            "uuid": new_uuid(),
            "session_id": self._frames.session_id,
        }
