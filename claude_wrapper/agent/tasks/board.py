"""The tasks of a session: subagents and commands, those that a turn waits for and those in the background."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from msgspec import UNSET

from claude_wrapper.agent.host.prompts import PromptQueue
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.wire.hook_turn_inputs import BackgroundTaskSummaryBody
from claude_wrapper.wire.system_tasks import BackgroundTask

from .facts import COMMAND, SUBAGENT, TaskFacts

__all__ = ["Task", "TaskBoard"]


class Task(Protocol):
    """One of them."""

    @property
    def facts(self) -> TaskFacts: ...

    @property
    def background(self) -> bool:
        """Whether no turn waits for it."""
        ...

    @property
    def command(self) -> str | None:
        """What the shell runs; None for a subagent."""
        ...

    def to_background(self) -> bool:
        """Let nobody wait for it any longer, if that can be, and tell the host."""
        ...

    async def stop(self) -> None:
        """The host wants its end: stop it, and wait until that is told."""
        ...

    def give_up(self) -> None:
        """Nobody needs it any longer: begin to stop it."""
        ...


class TaskBoard:
    """Knows the tasks that are at work."""

    def __init__(self, frames: Frames, queue: PromptQueue) -> None:
        self._frames = frames
        self._queue = queue
        self._tasks: dict[str, Task] = {}
        self._began = asyncio.Event()
        queue.expected = lambda: self.in_background

    def add(self, task: Task) -> None:
        """A task begins."""
        self._tasks[task.facts.id] = task
        if task.background:
            self._began.set()
            self.tell()

    def take_off(self, task: Task) -> None:
        """It is over."""
        self._tasks.pop(task.facts.id, None)

    def moved(self, task: Task) -> None:
        """A task is in the background from now on; the order is that in which they came there."""
        self._tasks[task.facts.id] = self._tasks.pop(task.facts.id)
        self._began.set()
        self.tell()

    async def any_in_background(self) -> None:
        """Wait until there is one that no turn waits for."""
        while not self.in_background:
            self._began.clear()
            await self._began.wait()

    def tell(self) -> None:
        """Tell the host which are in the background."""
        self._frames.background_tasks([_listed(each) for each in self._in_background()])

    def told_to_hooks(self) -> list[BackgroundTaskSummaryBody]:
        """Those in the background, as hooks are told of them."""
        return [_summary(each) for each in self._in_background()]

    def number(self, kind: str) -> int:
        """How many of a kind are at work."""
        return sum(each.facts.kind == kind for each in self._tasks.values())

    @property
    def in_background(self) -> bool:
        """Whether any works that no turn waits for."""
        return bool(self._in_background())

    @property
    def subagent_in_background(self) -> bool:
        """Whether one of those is a subagent."""
        return any(each.facts.kind == SUBAGENT for each in self._in_background())

    @property
    def keep_running(self) -> bool:
        """Whether the session does not come to rest without a turn."""
        return self.subagent_in_background or (self._queue.closed and self.in_background)

    def find(self, task_id: str) -> Task | None:
        """The task with this id, if it is at work."""
        return self._tasks.get(task_id)

    def to_background(self, call_id: str | None) -> bool:
        """Move the task of a call to the background, or all that a turn waits for; whether there was any."""
        waited_for = [each for each in self._tasks.values() if not each.background]
        moved = [
            each.to_background() for each in waited_for if call_id is None or each.facts.call_id == call_id
        ]
        return any(moved)

    async def stop(self, task_id: str) -> None:
        """Stop one, and wait until that is told; what is not at work stays as it is."""
        task = self._tasks.get(task_id)
        if task is not None:
            await task.stop()
            self.rest()

    def give_up(self, kind: str | None = None) -> None:
        """Stop those in the background: the money is spent, or nobody waits any longer."""
        for each in self._in_background():
            if kind is None or each.facts.kind == kind:
                each.give_up()

    def rest(self) -> None:
        """Nothing more may be expected of a task."""
        queue = self._queue
        queue.look_again()
        if not queue.busy and not len(queue) and not self.keep_running:
            self._frames.session_state("idle")

    def _in_background(self) -> list[Task]:
        return [each for each in self._tasks.values() if each.background]


def _listed(task: Task) -> BackgroundTask:
    facts = task.facts
    return BackgroundTask(
        task_id=facts.id,
        run_id=facts.run_id,
        task_type=facts.kind,
        subagent_type=facts.subagent_type,
        description=facts.description,
        parent_task_id=UNSET if facts.kind != COMMAND or facts.parent_id is None else facts.parent_id,
    )


def _summary(task: Task) -> BackgroundTaskSummaryBody:
    facts = task.facts
    more: dict[str, Any] = {"agent_type": facts.subagent_type}
    if task.command is not None:
        more = {"command": task.command}
    kind = "shell" if facts.kind == COMMAND else "subagent"
    return BackgroundTaskSummaryBody(
        id=facts.id, type=kind, status="running", description=facts.description, **more
    )
