"""Closes the agent's input when its run is over, and ends an agent that stays all the same."""

from __future__ import annotations

import os
from collections.abc import Callable

import anyio

from .changes import Changes
from .channels import AgentChannel
from .turns import TurnTracker

__all__ = ["InputEnd"]


class InputEnd:
    """Sees a run to its end, once no more prompts come."""

    def __init__(
        self,
        channel: AgentChannel,
        turns: TurnTracker,
        changes: Changes,
        ended: anyio.Event,
        exit_seconds: float,
    ) -> None:
        self._channel = channel
        self._turns = turns
        self._changes = changes
        self._ended = ended
        self._exit_seconds = exit_seconds
        self.has_stopped = False
        """Whether the agent was ended because it had said all and did not exit."""

    async def when_over(self) -> None:
        """Keep the input open for answers until the run is over, then close it."""
        await self._until(lambda: self._turns.has_result)
        with anyio.move_on_after(_seconds_from_env("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", 600.0)):
            await self._until(lambda: self._turns.run_is_over)
        await self._channel.end_input()

    async def stop_if_it_lingers(self, is_closing: Callable[[], bool]) -> None:
        """End an agent that has said all it had to say but does not exit."""
        while not self._ended.is_set():
            await self._until(self._has_said_all)
            with anyio.move_on_after(self._exit_seconds):
                await self._ended.wait()
            if self._has_said_all() and not self._ended.is_set() and not is_closing():
                self.has_stopped = True
                await self._channel.stop(0)
                return

    def _has_said_all(self) -> bool:
        return self._turns.run_is_over and not self._turns.turn_is_open

    async def _until(self, condition: Callable[[], bool]) -> None:
        await self._changes.until(lambda: condition() or self._ended.is_set())


def _seconds_from_env(name: str, default: float) -> float:
    """Read a number of milliseconds; what is no number counts as unset."""
    try:
        return float(os.environ[name]) / 1000
    except (KeyError, ValueError):
        return default
