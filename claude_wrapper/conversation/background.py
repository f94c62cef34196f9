"""Background tasks that outlive the call that starts them, under asyncio and trio.

A conversation reads while its user does something else, and it is opened, used and closed from
whatever tasks the user likes; so its tasks cannot belong to a task group, whose scope would have to
stay open across calls.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

__all__ = ["Background"]

logger = logging.getLogger("claude_wrapper.conversation")

_STOP_SECONDS = 5.0
"""How long cancelled tasks may take to end; only user code that swallows its cancellation needs it."""

_current: contextvars.ContextVar[anyio.CancelScope | None] = contextvars.ContextVar("_current", default=None)
"""The scope of the background task that runs here, if one does."""


class Background:
    """Owns background tasks: starts them, and ends them all."""

    def __init__(self) -> None:
        self._scopes: set[anyio.CancelScope] = set()
        self._one_ended = anyio.Event()
        self._context: contextvars.Context | None = None

    def adopt_context(self) -> None:
        """Run tasks from now on in the context variables of the caller, not in those of the starter."""
        self._context = contextvars.copy_context()

    def start(self, function: Callable[..., Awaitable[None]], *args: Any) -> anyio.CancelScope:
        """Start a task; the scope it runs in can be cancelled by anybody."""
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        context = (self._context or contextvars.copy_context()).copy()
        trio = sys.modules.get("trio")
        if trio is not None and anyio.get_cancelled_exc_class() is trio.Cancelled:
            trio.lowlevel.spawn_system_task(self._run, scope, function, args, context=context)
        else:
            task = context.run(asyncio.ensure_future, self._run(scope, function, args))
            # A loop that is shut down cancels the task; nobody is left to look at it.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return scope

    def excuse(self) -> None:
        """Have nobody wait for the task that calls this: it waits for the one who stops the tasks."""
        own = _current.get()
        if own is not None:
            self._scopes.discard(own)
            self._one_ended.set()

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended, for a bounded time.

        A task that calls this itself is neither cancelled nor waited for: it has still to come to its end.
        """
        own = _current.get()
        for scope in self._scopes - {own}:
            scope.cancel()
        with anyio.move_on_after(_STOP_SECONDS, shield=True):
            while self._scopes - {own}:
                self._one_ended = anyio.Event()
                await self._one_ended.wait()
        if self._scopes - {own}:
            logger.error("%s tasks do not end though they are cancelled", len(self._scopes - {own}))

    async def _run(
        self, scope: anyio.CancelScope, function: Callable[..., Awaitable[None]], args: tuple[Any, ...]
    ) -> None:
        _current.set(scope)
        try:
            with scope:
                await function(*args)
        except Exception:
            # A background task has nobody to raise to; each function reports its own failures.
            logger.exception("a background task of the conversation failed")
        finally:
            self._scopes.discard(scope)
            self._one_ended.set()
