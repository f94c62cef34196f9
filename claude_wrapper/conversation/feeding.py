"""Takes prompts from an iterable of the user, whatever that does."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any

import anyio

from claude_wrapper.errors import CLIConnectionError

from .calling import is_told_to_end

__all__ = ["feed"]

_CLOSE_SECONDS = 1.0
"""How long the user's iterable may take to be closed."""


async def feed(
    prompts: AsyncIterable[dict[str, Any]], send: Callable[[dict[str, Any]], Awaitable[object]]
) -> None:
    """Send what the iterable gives until it ends, and close it. Raises what it raises."""
    try:
        async for frame in prompts:
            await send(frame)
    except anyio.get_cancelled_exc_class() as error:
        if await is_told_to_end():
            raise
        # It has awaited something that was cancelled: for the run that is a failure like any other.
        raise CLIConnectionError("The iterable of prompts was cancelled") from error
    finally:
        close = getattr(prompts, "aclose", None)
        if close is not None:
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                await close()
