"""A subagent that is at work, as a task of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from claude_wrapper.agent.tasks.board import TaskBoard
from claude_wrapper.agent.tasks.facts import TaskFacts

if TYPE_CHECKING:
    from claude_wrapper.agent.tasks.news import TaskNews

    from .child_frames import ChildFrames
    from .errand import Errand
    from .report import Report
    from .work import Work

__all__ = ["Running"]

_STOP_SECONDS = 5.0


class Running:
    """One of them. How it ended is in `report` and `error`, both None if it was stopped."""

    command: str | None = None

    def __init__(
        self, errand: Errand, work: Work, told: TaskNews, frames: ChildFrames, board: TaskBoard
    ) -> None:
        self.errand = errand
        self.work = work
        self.told = told
        self.facts: TaskFacts = errand.facts
        self.report: Report | None = None
        self.error: str | None = None
        self.budget_spent = False
        self.by_host = False
        """The host, or its user, stopped it."""
        self.moved = False
        """A turn had waited for it, and does so no longer."""
        self.scope = anyio.CancelScope()
        self.news = anyio.Event()
        """It is over, or nobody is to wait for it."""
        self.over = anyio.Event()
        self._frames = frames
        self._board = board

    @property
    def background(self) -> bool:
        """Whether no turn waits for it."""
        return self.errand.background

    def to_background(self) -> bool:
        """Let nobody wait for it any longer, if anybody does, and tell the host."""
        if self.background or self.news.is_set() or self.errand.depth > 1:
            return False
        self.moved = self.errand.background = True
        self._frames.to_background()
        self._board.moved(self)
        self.told.moved()
        self.news.set()
        return True

    async def stop(self) -> None:
        """The host wants its end: stop it, and wait until that is told."""
        self.by_host = True
        self.scope.cancel()
        with anyio.move_on_after(_STOP_SECONDS):
            await self.over.wait()

    def give_up(self) -> None:
        """Begin to stop it."""
        self.scope.cancel()
