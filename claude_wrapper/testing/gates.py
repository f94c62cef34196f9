"""Things that happen once, which a test can wait for from a thread, from asyncio and from trio."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable

from claude_wrapper.testing.faults import ScriptTimeoutError

__all__ = ["DEFAULT_WAIT", "Gate", "Moment"]

DEFAULT_WAIT = 30.0
"""Seconds that a test waits for anything unless it says otherwise."""


class Moment:
    """Something that happens at most once; every wait for it is bounded."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._lock = threading.Lock()
        self._happened = False
        self._callbacks: list[Callable[[], object]] = []

    def __repr__(self) -> str:
        return f"<Moment {self.what}: {'happened' if self._happened else 'not yet'}>"

    @property
    def happened(self) -> bool:
        """Whether it has happened."""
        return self._happened

    def happen(self) -> None:
        """Let it happen; again is no event."""
        with self._lock:
            self._happened = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def wait(self, timeout: float = DEFAULT_WAIT) -> None:
        """Block this thread until it has happened."""
        event = threading.Event()
        self._then(event.set)
        if not event.wait(timeout):
            self._forget(event.set)
            raise self._too_late(timeout)

    async def reached(self, timeout: float = DEFAULT_WAIT) -> None:
        """Wait in an event loop (asyncio or trio) until it has happened."""
        import anyio  # noqa: PLC0415  # a synchronous test need not pay for it

        event = anyio.Event()
        wake = _waker()

        def happened() -> None:
            with contextlib.suppress(RuntimeError):  # the loop ended meanwhile: nobody is left to wake
                wake(event.set)

        self._then(happened)
        try:
            with anyio.move_on_after(timeout):
                await event.wait()
        finally:
            self._forget(happened)
        if not self._happened:
            raise self._too_late(timeout)

    def _then(self, callback: Callable[[], object]) -> None:
        with self._lock:
            if not self._happened:
                self._callbacks.append(callback)
                return
        callback()

    def _forget(self, callback: Callable[[], object]) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._callbacks.remove(callback)

    def _too_late(self, timeout: float) -> ScriptTimeoutError:
        return ScriptTimeoutError(f"not within {timeout:g} s: {self.what}")


class Gate:
    """A place where a scripted reply stands still until the test lets it pass.

    `release()` opens the gate for good. `wait()` and `await reached()` last until a reply
    stands at it, so a test knows how far the other side has come without sleeping.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.arrival = Moment(f"a reply stands at gate {name!r}")
        self.opening = Moment(f"gate {name!r} is released")

    def __repr__(self) -> str:
        return f"<Gate {self.name!r}: {'open' if self.opening.happened else 'closed'}>"

    def release(self) -> None:
        """Let the waiting reply, and every later one, pass."""
        self.opening.happen()

    def wait(self, timeout: float = DEFAULT_WAIT) -> None:
        """Block this thread until a reply stands at the gate."""
        self.arrival.wait(timeout)

    async def reached(self, timeout: float = DEFAULT_WAIT) -> None:
        """Wait in an event loop until a reply stands at the gate."""
        await self.arrival.reached(timeout)


def _waker() -> Callable[[Callable[[], object]], object]:
    """How another thread gets a function run in the event loop that runs here."""
    trio = sys.modules.get("trio")
    if trio is not None:
        with contextlib.suppress(RuntimeError):
            return trio.lowlevel.current_trio_token().run_sync_soon  # type: ignore[no-any-return]
    import asyncio  # noqa: PLC0415  # loaded already where a loop of it runs

    return asyncio.get_running_loop().call_soon_threadsafe
