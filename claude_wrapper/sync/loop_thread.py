"""An event loop in a thread of its own, for the blocking calls of one conversation."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from claude_wrapper.errors import CLIConnectionError

__all__ = ["ConversationClosedError", "LoopThread"]

T = TypeVar("T")

_SLICE = 0.2
"""Seconds of one wait: Windows tells a thread of Ctrl+C only between waits."""

_CANCEL_SECONDS = 20.0
"""How long an interrupted call may take to clean up."""

_running: set[LoopThread] = set()


class ConversationClosedError(CLIConnectionError):
    """The call came too late, or the conversation was closed while it waited."""


class LoopThread:
    """Runs coroutines for other threads until it is closed.

    The thread does not keep the program alive: a conversation that nobody has closed is closed when
    the interpreter exits.
    """

    def __init__(self) -> None:
        self.at_the_end: Callable[[], Awaitable[None]] | None = None
        """The last to run in the loop."""
        self._started: Future[BlockingPortal] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: anyio.Event | None = None
        self._aborted: BaseException | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="claude-wrapper", daemon=True)
        self._thread.start()
        self._portal = self._started.result()

    def call(self, function: Callable[..., Awaitable[T]], *args: object) -> T:
        """Run a coroutine function and return what it returns. What interrupts the wait cancels it."""
        if self._is_current:
            raise CLIConnectionError(
                "A blocking call was made in an async callback, whose event loop would have to answer it; "
                "make the callback a plain function, or use the async client"
            )
        over, finished = threading.Event(), threading.Event()

        async def run() -> T:
            try:
                return await function(*args)
            finally:
                finished.set()

        try:
            future = self._portal.start_task_soon(run)
        except RuntimeError as error:
            raise ConversationClosedError("The conversation is closed") from error
        future.add_done_callback(lambda _: over.set())
        try:
            self._wait(over)
            return future.result()
        except CancelledError as error:
            raise ConversationClosedError("The conversation was closed") from error
        except BaseException:
            if future.cancel():
                finished.wait(_CANCEL_SECONDS)
            raise

    def abort(self, error: BaseException) -> None:
        """Let whoever waits, or is the next to wait, raise this."""
        self._aborted = error

    @property
    def is_running(self) -> bool:
        """Whether calls can be made."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Cancel every call and let the thread end by itself. May be called from any thread, and by `__del__`."""
        assert self._loop is not None
        assert self._stop is not None
        # It may have ended already.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)

    def close(self) -> None:
        """Cancel every call and end the thread. May be repeated, and called from any thread.

        Raises what went wrong at the end, or what has ended the loop before.
        """
        self.stop()
        if not self._is_current:
            while self._thread.is_alive():
                self._thread.join(_SLICE)
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure

    @property
    def _is_current(self) -> bool:
        return threading.current_thread() is self._thread

    def _wait(self, over: threading.Event) -> None:
        while not over.wait(_SLICE) and self._aborted is None and self._thread.is_alive():
            pass
        error, self._aborted = self._aborted, None
        if error is not None:
            raise error
        if not over.is_set() and not self._thread.is_alive():
            raise ConversationClosedError("The thread of the conversation has ended")

    def _run(self) -> None:
        _running.add(self)
        try:
            anyio.run(self._main, backend="asyncio")
        except BaseException as error:  # noqa: BLE001  # it belongs to the thread that waits
            if self._started.done():
                self._failure = error
            else:
                self._started.set_exception(error)
        finally:
            _running.discard(self)

    async def _main(self) -> None:
        try:
            async with BlockingPortal() as portal:
                self._loop = asyncio.get_running_loop()
                self._stop = anyio.Event()
                self._started.set_result(portal)
                await self._stop.wait()
                await portal.stop(cancel_remaining=True)
        finally:
            if self.at_the_end is not None:
                with anyio.CancelScope(shield=True):
                    await self.at_the_end()


@atexit.register
def _close_all() -> None:
    for loop in list(_running):
        loop.close()
