"""The list of tasks of a session, which the Task tools share."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import field

__all__ = ["Task", "TaskBook"]


class Task(msgspec.Struct):
    """One task."""

    id: str
    subject: str
    description: str
    active_form: str | None = None
    status: str = "pending"
    owner: str | None = None
    blocks: list[str] = field(default_factory=list)
    blocked_by: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


class TaskBook:
    """The tasks, by their numbers; a number is never given twice."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._last = 0

    def add(self, subject: str, description: str) -> Task:
        """Add a task."""
        self._last += 1
        task = Task(str(self._last), subject, description)
        self._tasks[task.id] = task
        return task

    def find(self, number: str) -> Task | None:
        """The task of this number."""
        return self._tasks.get(number.removeprefix("#"))

    def remove(self, task: Task) -> None:
        """Take a task away; nothing waits for it any more."""
        del self._tasks[task.id]
        for other in self._tasks.values():
            for numbers in (other.blocks, other.blocked_by):
                if task.id in numbers:
                    numbers.remove(task.id)

    def connect(self, first: Task, then: Task) -> None:
        """Let one task wait for another."""
        if then.id not in first.blocks:
            first.blocks.append(then.id)
        if first.id not in then.blocked_by:
            then.blocked_by.append(first.id)

    def waits_for(self, task: Task) -> list[str]:
        """The tasks that have to be done before this one."""
        tasks = [self._tasks.get(number) for number in task.blocked_by]
        return [each.id for each in tasks if each is not None and each.status != "completed"]

    def __iter__(self) -> Any:
        return iter(list(self._tasks.values()))
