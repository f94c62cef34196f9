"""Leaving an agent that may be in the middle of a turn, so that its session holds what it has done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio

from .channels import AgentChannel
from .steering import Steering
from .turns import TurnTracker

__all__ = ["Leaving", "stop"]

_UNHEARD_GRACE = 0.2
"""Seconds that an agent has to end by itself when it would not even be interrupted."""


# When an event loop of asyncio ends it cancels all tasks, once, whatever shields they have, and waits for
# them: what was cut short has to be done then.


async def stop(channel: AgentChannel, grace: float | None) -> None:
    """Stop an agent, also when the event loop ends in the middle of it."""
    try:
        await channel.stop(grace)
    except anyio.get_cancelled_exc_class():
        await channel.stop(0)
        raise


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

    async def leave_with_the_loop(
        self, read: Callable[[], Coroutine[Any, Any, None]], is_read: Callable[[], bool]
    ) -> None:
        """End a conversation because its event loop ends; the reader, which was cancelled, reads on meanwhile."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                if not is_read():
                    tasks.start_soon(read)
                await self.leave()
                tasks.cancel_scope.cancel()

    async def _end_turn(self) -> None:
        try:
            await self._steering.end_turn()
        except anyio.get_cancelled_exc_class():
            await self._steering.end_turn()
            raise
