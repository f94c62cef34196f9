"""Waiting for what one of many events may bring about."""

from __future__ import annotations

from collections.abc import Callable

import anyio

__all__ = ["Changes"]


class Changes:
    """Tells those who wait for a condition that it may have come true. Needs a running event loop."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def tell(self) -> None:
        """Let everybody look at his condition. Costs next to nothing while nobody waits."""
        self._event.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        while not condition():
            if self._event.is_set():
                self._event = anyio.Event()
            await self._event.wait()
