"""One shell command as a task: waited for by a call at first, or in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from .facts import TaskFacts
from .news import TaskNews

if TYPE_CHECKING:
    from claude_wrapper.agent.tools.shell import Shell

    from .commands import Commands

__all__ = ["CommandTask"]

_STOP_SECONDS = 5.0


class CommandTask:
    """One of them. `news` tells the host of it; what it tells names the output file only in the background."""

    def __init__(self, owner: Commands, shell: Shell, facts: TaskFacts, command: str, news: TaskNews) -> None:
        self.facts = facts
        self.command: str | None = command
        self.shell = shell
        self.news = news
        self.background = False
        self.moved = False
        """The host has sent it to the background."""
        self.told = False
        """The host knows of it."""
        self.ended_by: str | None = None
        """Who stopped it: `host`, `model`, `limit` or `end`."""
        self.over = anyio.Event()
        self._owner = owner

    @property
    def id(self) -> str:
        """The id that it is known by."""
        return self.facts.id

    @property
    def output_file(self) -> str:
        """Where its output is, once it is in the background."""
        return self.news.output_file

    def tell_if_long(self) -> None:
        """It has run for some time: the host is told."""
        if not self.told and not self.over.is_set():
            self.told = True
            self.news.started(background=self.background)

    def to_background(self) -> bool:
        """Send it to the background, as the host wants, if the host knows of it."""
        if not self.told or self.facts.parent_id is not None or not self.move():
            return False
        self.moved = True
        self.shell.let_go()
        return True

    def move(self) -> bool:
        """Send it to the background; whether that could be done."""
        if self.background or self.over.is_set():
            return False
        try:
            self._owner.begin_beside(self, seconds=self._owner.longest)
        except OSError:
            return False
        return True

    async def stop(self) -> None:
        """The host wants its end."""
        if not self.background:
            self.ended_by = "host"
            self._owner.place(self)
            self.news.over("killed")
            self.news.notify("stopped", self.facts.description)
            self._owner.remark_stopped(self)
            self.shell.stop()
            return
        await self.stop_for("host")

    async def stop_for(self, whom: str) -> None:
        """Stop it in the background, and wait until that is told."""
        self.ended_by = self.ended_by or whom
        self.shell.stop()
        with anyio.move_on_after(_STOP_SECONDS):
            await self.over.wait()

    def give_up(self) -> None:
        """Begin to stop it."""
        self.ended_by = self.ended_by or "limit"
        self.shell.stop()

    def done(self, *, failed: bool) -> None:
        """The call that waited for it has seen it through."""
        self._leave("failed" if failed else "completed")

    def cut_off(self) -> None:
        """The call was stopped, and the command with it."""
        self._leave("stopped")

    def _leave(self, status: str) -> None:
        self.over.set()
        self._owner.forget(self)
        if self.told and self.ended_by is None:
            self.news.notify(status, self.facts.description, with_file=False)
