"""How the process ends: who may end it, with which exit code, and that nothing it started outlives it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable

import anyio

from .children import kill_children
from .host.interrupts import Interruption
from .host.prompts import PromptQueue

__all__ = ["Lifetime"]

TERMINATED = 128 + signal.SIGTERM
_HUNG_UP = 129
_PARENT_SECONDS = 1.0
_REPORT_SECONDS = 0.5
"""How long killed tools may take to say that they were killed."""


class Lifetime:
    """Waits for the end. The first reason decides the exit code; None leaves it to the last result."""

    def __init__(self, queue: PromptQueue, interruption: Interruption) -> None:
        self._queue = queue
        self._interruption = interruption
        self._over = asyncio.Event()
        self._report = _REPORT_SECONDS
        self.on_end: Callable[[], None] = lambda: None
        """Called while what runs in the background still runs, when that must end at once."""
        self.code: int | None = None
        self.abrupt = False
        """The turn that runs, if one does, is not to be finished."""

    def listen(self) -> None:
        """Take the signals that end a process."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.terminate)
        loop.add_signal_handler(signal.SIGINT, self.interrupt)
        if hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, self.terminate, _HUNG_UP)

    async def watch_parent(self, parent: int) -> None:
        """End the process once its parent is gone: nobody reads what it says any more."""
        while os.getppid() == parent:  # noqa: ASYNC110  # there is no event for the end of a parent
            await anyio.sleep(_PARENT_SECONDS)
        self.terminate()

    def terminate(self, code: int = TERMINATED) -> None:
        """Stop everything at once."""
        self._interruption.halt()
        self.on_end()
        self._end(code)
        kill_children()

    def interrupt(self) -> None:
        """Interrupt the turn and take no more prompts; a second time, stop everything at once."""
        if self.code is not None:
            self.terminate_now(0)
            return
        self.code = 0
        self.on_end()
        self._queue.clear()
        self._queue.close()
        self._interruption.stop_for_good()

    def end_session(self) -> None:
        """The host wants the end: the turn is interrupted, and the last result decides the exit code."""
        self._queue.clear()
        self._queue.close()
        self._interruption.stop()

    def output_closed(self) -> None:
        """Nobody reads stdout any more."""
        self.terminate_now(1)

    def fault(self, text: str) -> None:
        """What came in cannot be understood."""
        sys.stderr.write(f"Error: {text}\n")
        self.terminate_now(1)

    def terminate_now(self, code: int) -> None:
        """Stop everything without waiting for reports of what was stopped."""
        self._report = 0
        self._end(code)

    async def stopped(self, busy: Callable[[], bool]) -> None:
        """Wait until the process has to stop, and for what the tools that were killed then say."""
        await self._over.wait()
        with anyio.move_on_after(self._report):
            while busy():  # noqa: ASYNC110  # the tools have no common sign of their end
                await anyio.sleep(0.01)

    def _end(self, code: int) -> None:
        if self.code is None or not self.abrupt:
            self.code = code
        self.abrupt = True
        self._over.set()
