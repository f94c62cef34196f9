"""Watches how long an agent works, and how long it says nothing."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import msgspec

from claude_wrapper.errors import IdleTimeoutError, RunTimeoutError

from .changes import Changes
from .turns import TurnTracker

__all__ = ["Patience", "Watchdog"]


class Patience(msgspec.Struct, frozen=True):
    """How many seconds an agent may work, and may be silent while it does; None: without bound."""

    total: float | None = None
    idle: float | None = None

    def __bool__(self) -> bool:
        return self.total is not None or self.idle is not None


class Watchdog:
    """Says when the user's patience with an agent is at its end.

    Silence counts only while the agent has something to do and does not wait for an answer of ours.
    """

    def __init__(
        self, patience: Patience, turns: TurnTracker, changes: Changes, waits_for_us: Callable[[], bool]
    ) -> None:
        self._patience = patience
        self._turns = turns
        self._changes = changes
        self._waits_for_us = waits_for_us
        self._started = self._heard = anyio.current_time()

    def hear(self) -> None:
        """The agent has written something."""
        self._heard = anyio.current_time()

    async def overdue(self, has_ended: Callable[[], bool], *, whole_run: bool) -> RunTimeoutError | None:
        """Wait until an agent takes too long; None when it has ended before.

        With `whole_run` its time runs until it ends, else anew for each turn.
        """
        while not has_ended():
            await self._changes.until(lambda: has_ended() or whole_run or self._turns.is_working)
            self._started = self._heard = anyio.current_time()
            error = await self._watch(self._until_over(has_ended, whole_run=whole_run), whole_run=whole_run)
            if error is not None:
                return error
        return None

    def _until_over(self, has_ended: Callable[[], bool], *, whole_run: bool) -> Callable[[], bool]:
        if whole_run:
            return has_ended
        turns, number = self._turns, self._turns.round
        return lambda: has_ended() or not turns.is_working or turns.round != number

    async def _watch(self, is_over: Callable[[], bool], *, whole_run: bool) -> RunTimeoutError | None:
        while not is_over():
            with anyio.move_on_after(self._left()):
                await self._changes.until(is_over)
                break
            error = self._complaint(whole_run=whole_run)
            if error is not None:
                return error
        return None

    def _left(self) -> float | None:
        now = anyio.current_time()
        total, idle = self._patience.total, self._patience.idle
        ends = [
            began + bound
            for began, bound in ((self._started, total), (self._heard, idle))
            if bound is not None
        ]
        return max(min(ends) - now, 0.0)

    def _complaint(self, *, whole_run: bool) -> RunTimeoutError | None:
        now = anyio.current_time()
        total, idle = self._patience.total, self._patience.idle
        if total is not None and now - self._started >= total:
            if whole_run or self._turns.turn_is_open:
                return RunTimeoutError(f"The agent worked longer than {total:g} seconds and was stopped")
            self._started = now
        if idle is not None and now - self._heard >= idle:
            if self._turns.is_working and not self._waits_for_us():
                return IdleTimeoutError(f"The agent said nothing for {idle:g} seconds and was stopped")
            self._heard = now
        return None
