"""Where a conversation may be used: in the process and the event loop that started it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

from claude_wrapper.errors import ClientUseError

__all__ = ["Home"]


class Home:
    """The process and the event loop that something was made in."""

    __slots__ = ("_loop", "_pid", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._pid = os.getpid()
        self._loop = _current_loop()

    @property
    def is_of_this_process(self) -> bool:
        """Whether this process made it, and not the one that this process was forked from."""
        return os.getpid() == self._pid

    def check_process(self) -> None:
        """Raise ClientUseError in a forked child."""
        if not self.is_of_this_process:
            raise ClientUseError(
                f"{self._what} belongs to the process {self._pid}, of which this one is a fork; "
                "start an agent of its own here"
            )

    def check(self) -> None:
        """Raise ClientUseError in a forked child, in another event loop, and so in another thread's."""
        self.check_process()
        if _current_loop() is not self._loop:
            raise ClientUseError(
                f"{self._what} was started in another event loop, which alone can use it; with asyncio.run() or "
                "trio.run(), start, use and close it in one call of it"
            )

    def run(self, function: Callable[[], object]) -> bool:
        """Run something in that event loop, at once in its own thread; False when it has ended."""
        loop = self._loop
        try:
            if isinstance(loop, asyncio.AbstractEventLoop):
                if _current_loop() is loop and asyncio.current_task() is not None:
                    function()
                else:
                    # In a task: elsewhere anyio does not know which event loop it is in.
                    loop.call_soon_threadsafe(lambda: loop.create_task(_called(function)))
            elif _current_loop() is loop:
                function()
            else:
                loop.run_sync_soon(function)
        except RuntimeError:
            # So both kinds say that it is too late.
            return False
        return True


async def _called(function: Callable[[], object]) -> None:
    function()


def _current_loop() -> Any:
    """Return what stands for the running event loop; each run of one has its own."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        trio = sys.modules.get("trio")
    try:
        return None if trio is None else trio.lowlevel.current_trio_token()
    except RuntimeError:
        return None
