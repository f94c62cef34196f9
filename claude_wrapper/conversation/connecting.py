"""A start that somebody else may call off."""

from __future__ import annotations

from collections.abc import Awaitable

import anyio

from claude_wrapper.errors import ClientUseError

from .home import Home
from .live import Live

__all__ = ["Connecting"]


class Connecting:
    """Runs the start of a client's agent; `call_off` ends it and waits until nothing is left of it."""

    def __init__(self) -> None:
        self._home = Home("This client")
        self._scope = anyio.CancelScope()
        self._done = anyio.Event()

    async def run(self, start: Awaitable[Live]) -> Live:
        """Wait for the start; ClientUseError when it was called off."""
        try:
            with self._scope:
                live = await start
                if not self._scope.cancel_called:
                    return live
                # The start was just done, and took no notice.
                await live.close(0)
        finally:
            self._done.set()
        raise ClientUseError("The client was closed while it was connecting")

    async def call_off(self) -> None:
        """End the start. Bounded, as the end of an agent is."""
        self._home.check()
        self._scope.cancel()
        await self._done.wait()
