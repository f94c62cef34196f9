"""Bounded waits for what another process does to files."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from claude_wrapper.testing.faults import ScriptTimeoutError

__all__ = ["poll", "poll_async"]

T = TypeVar("T")

INTERVAL = 0.002


def poll(look: Callable[[], T], what: str, timeout: float) -> T:
    """Look until there is something to see, blocking this thread."""
    end = time.monotonic() + timeout
    while not (seen := look()):
        if time.monotonic() > end:
            raise ScriptTimeoutError(f"not within {timeout:g} s: {what}")
        time.sleep(INTERVAL)
    return seen


async def poll_async(look: Callable[[], T], what: str, timeout: float) -> T:
    """Look until there is something to see, in an event loop (asyncio or trio)."""
    import anyio  # noqa: PLC0415  # a synchronous test need not pay for it

    end = time.monotonic() + timeout
    while not (seen := look()):
        if time.monotonic() > end:
            raise ScriptTimeoutError(f"not within {timeout:g} s: {what}")
        await anyio.sleep(INTERVAL)
    return seen
