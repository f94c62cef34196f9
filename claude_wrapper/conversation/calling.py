"""Calls the user's functions so that whatever they do comes to one end: a value, or a refusal with its reason."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import anyio.lowlevel

from claude_wrapper.link.peer import RequestRefusedError

__all__ = ["CallTimeoutError", "awaited", "call", "is_told_to_end"]

logger = logging.getLogger("claude_wrapper.conversation")

T = TypeVar("T")


class CallTimeoutError(RequestRefusedError):
    """The function did not return in time, and was cancelled."""


async def call(
    what: str, function: Callable[[], Awaitable[T]], timeout: float | None = None, patience: float = 0.0
) -> T:
    """Run what calls a function of the user, and return its outcome.

    Raises RequestRefusedError, so that the agent is told, when it raises or was cancelled by something
    of the user's own, and CallTimeoutError when it takes longer than `timeout` seconds, and `patience`
    more in which somebody else may end it first. What a user would otherwise never see is logged with
    its traceback.
    """
    try:
        with anyio.move_on_after(None if timeout is None else timeout + patience):
            return await function()
    except RequestRefusedError:
        raise
    except Exception as error:
        logger.exception("%s failed", what)
        raise RequestRefusedError(str(error) or type(error).__name__) from error
    except anyio.get_cancelled_exc_class() as error:
        if await is_told_to_end():
            raise
        logger.exception("%s was cancelled by something else than the conversation", what)
        raise RequestRefusedError(f"{what} was cancelled") from error
    logger.error("%s did not return within %s seconds and was cancelled", what, timeout)
    raise CallTimeoutError(f"{what} did not return within {timeout:g} seconds")


async def awaited(outcome: Any) -> Any:
    """Return what a function gave, or what it gives in the end where it is async."""
    return await outcome if hasattr(outcome, "__await__") else outcome


async def is_told_to_end() -> bool:
    """Tell a cancellation of this task from one that an awaited task has passed on."""
    await anyio.lowlevel.checkpoint_if_cancelled()
    count = getattr(asyncio.current_task(), "cancelling", None)
    return count is not None and count() > 0
