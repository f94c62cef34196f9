"""Stopping a turn half way: who asked for it, and the scope in which the turn runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio

__all__ = ["Interruption"]

_WITHDRAW_SECONDS = 2.0
_STOP_SECONDS = 5.0


class Interruption:
    """The way to stop the running turn.

    A question to the host is withdrawn before the interrupt is acknowledged and the turn stops
    only after it: hence two steps, `withdraw` and `stop`.
    """

    def __init__(self) -> None:
        self._scope: anyio.CancelScope | None = None
        self._questions: list[anyio.CancelScope] = []
        self._withdrawn = anyio.Event()
        self.stopped = False
        self.last = False
        """The turn is stopped for good: the process ends with it."""
        self._halted = False
        self.hurried = False
        """A prompt that cannot wait has taken the open questions back; the turn ends with its tools."""

    @contextmanager
    def turn(self) -> Iterator[anyio.CancelScope]:
        """Run a turn that can be stopped; afterwards `cancelled_caught` of the scope says whether it was."""
        self.stopped = self.hurried = False
        with anyio.CancelScope() as scope:
            self._scope = scope
            try:
                yield scope
            finally:
                self._scope = None

    @contextmanager
    def question(self) -> Iterator[anyio.CancelScope]:
        """Wait for the host's answer to a question that an interrupt withdraws."""
        with anyio.CancelScope() as scope:
            self._questions.append(scope)
            try:
                yield scope
            finally:
                self._questions.remove(scope)
                if not self._questions:
                    self._withdrawn.set()

    @property
    def running(self) -> bool:
        """Whether there is a turn to stop."""
        return self._scope is not None

    async def withdraw(self) -> None:
        """Take back the questions that are open, and wait until the host has been told."""
        if not self._questions:
            return
        self._withdrawn = anyio.Event()
        for scope in list(self._questions):
            scope.cancel()
        with anyio.move_on_after(_WITHDRAW_SECONDS):
            await self._withdrawn.wait()

    def hurry(self) -> None:
        """Take back the questions that are open; what needs nobody's answer comes to its end."""
        self.hurried = True
        for scope in list(self._questions):
            scope.cancel()

    async def about_to_stop(self) -> None:
        """Behind a question that was taken back: the turn stops once the host has been told so."""
        if self.hurried:
            return
        await anyio.sleep(_STOP_SECONDS)

    def halt(self) -> None:
        """Let what runs come to its end, and begin nothing more: the process ends."""
        self._halted = True

    async def hold(self) -> None:
        """Go no further once the process ends."""
        if self._halted:
            await anyio.sleep_forever()

    def stop_for_good(self) -> None:
        """Stop the turn where it is; none follows."""
        self.last = True
        self.stop()

    def stop(self) -> None:
        """Stop the turn where it is."""
        if self._scope is not None and not self.stopped:
            self.stopped = True
            self._scope.cancel()
