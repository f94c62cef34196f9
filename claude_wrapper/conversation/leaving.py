"""Leaving an agent that may be in the middle of a turn, so that its session holds what it has done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from .steering import Steering
from .turns import TurnTracker

__all__ = ["Leaving"]

_UNHEARD_GRACE = 0.2
"""Seconds that an agent has to end by itself when it would not even be interrupted."""


class Leaving:
    """Interrupts the turn, waits a little for its result, and closes; once, whoever asks for it."""

    def __init__(
        self,
        steering: Steering,
        turns: TurnTracker,
        is_alive: Callable[[], bool],
        close: Callable[[float | None], Awaitable[None]],
        closed_by_another: Callable[[], Awaitable[None]],
    ) -> None:
        self._steering = steering
        self._turns = turns
        self._is_alive = is_alive
        self._close = close
        self._closed_by_another = closed_by_another
        self._has_begun = False

    async def leave(self) -> None:
        """End a conversation to which nobody listens any more. Bounded; not interrupted by cancellation."""
        if self._has_begun:
            with anyio.CancelScope(shield=True):
                await self._closed_by_another()
            return
        self._has_begun = True
        try:
            if self._turns.turn_is_open and self._is_alive():
                await self._end_turn()
        finally:
            await self._close(_UNHEARD_GRACE if self._turns.turn_is_open else None)

    async def _end_turn(self) -> None:
        try:
            await self._steering.end_turn()
        except anyio.get_cancelled_exc_class():
            # The event loop ends: it cancels all tasks, once, whatever their shields, and waits for them.
            await self._steering.end_turn()
            raise
