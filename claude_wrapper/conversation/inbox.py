"""Messages that have arrived and were not taken yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import anyio

from claude_wrapper.errors import ClientUseError

from .home import Home

__all__ = ["Inbox", "Slot"]


class Slot:
    """A place in the queue that holds back what is behind it, until it is known what stands there."""

    __slots__ = ("is_filled", "messages")

    def __init__(self) -> None:
        self.is_filled = False
        self.messages: list[Any] = []


class Inbox:
    """A queue without a bound on its count, between the reader and whoever iterates.

    The reader never waits to put something in. It may ask whether the unread part is large
    (`is_full`) and wait until it has been taken (`drained`), when nothing else depends on it.
    """

    def __init__(self, max_unread_bytes: int, home: Home | None = None) -> None:
        self._home = Home("This conversation") if home is None else home
        self._has_reader = False
        self._items: deque[Any] = deque()
        self._max_unread = max_unread_bytes
        self._unread = 0
        self._arrived = anyio.Event()
        self._drained = anyio.Event()
        self._slots = 0
        self.ended = False
        self.closed = False
        """Whether the user closed the conversation, so that the end is no surprise."""
        self.error: Exception | None = None
        """Why the stream ended; raised by every iteration that comes to the end."""
        self.doom: Exception | None = None
        """Why the agent is being stopped; raised behind the result of the turn that this has ended."""

    def __len__(self) -> int:
        return len(self._items) - self._slots

    def __bool__(self) -> bool:
        """Whether there is a message to take."""
        items = self._items
        while items and type(items[0]) is Slot:
            if not items[0].is_filled:
                return False
            items.extendleft(reversed(items.popleft().messages))
            self._slots -= 1
        return bool(items)

    def put(self, messages: Iterable[Any], size: int) -> None:
        """Add messages that took `size` bytes on the wire."""
        self._items.extend(messages)
        self._unread += size
        self._arrived.set()

    def hold(self, slot: Slot) -> None:
        """Hold back what is added from now on, until the slot is filled."""
        self._items.append(slot)
        self._slots += 1

    def fill(self, slot: Slot, messages: Iterable[Any]) -> None:
        """Put messages, or none, where a slot is, and let go what is behind it."""
        slot.messages, slot.is_filled = list(messages), True
        self._arrived.set()

    def end(self, error: Exception | None) -> None:
        """No more messages will come; the first call counts."""
        if not self.ended:
            self.ended, self.error = True, error
            self._arrived.set()
            self._drained.set()

    @property
    def is_full(self) -> bool:
        """Whether more bytes are unread than the limit. Counted since the queue was last empty."""
        return self._unread > self._max_unread and bool(self._items)

    async def drained(self) -> None:
        """Wait until everything has been taken, or `release` is called."""
        if self._items:
            self._drained = anyio.Event()
            await self._drained.wait()

    def release(self) -> None:
        """Let the reader go on, though messages are unread."""
        self._drained.set()

    async def wait(self) -> bool:
        """Wait until there is a message; False at the end. Raises ClientUseError where nobody may wait."""
        self._home.check()
        while not self:
            if not self._items:
                self._unread = 0
                self._drained.set()
                if self.ended:
                    return False
            if self._arrived.is_set():
                self._arrived = anyio.Event()
            await self._arrival()
        return True

    async def _arrival(self) -> None:
        if self._has_reader:
            # Each would get some of the messages, and neither what he waits for.
            raise ClientUseError(
                "Another task is reading the messages of this conversation; let one task read them and pass them on"
            )
        self._has_reader = True
        try:
            await self._arrived.wait()
        finally:
            self._has_reader = False

    def take(self) -> Any:
        """Take the oldest message; only right after `wait` said there is one."""
        return self._items.popleft()

    def pass_over(self) -> None:
        """Forget what was to be raised behind the result that was taken last."""

    async def outcome(self) -> Exception | None:
        """Return what is wrong though the turn has its result; of an agent that is being stopped, at its end."""
        while self.doom is not None and not self.ended:
            if self._arrived.is_set():
                self._arrived = anyio.Event()
            await self._arrival()
        return self.doom

    def take_all(self) -> list[Any]:
        """Take everything that is there."""
        if self._slots:
            taken = []
            while self:
                taken.append(self._items.popleft())
            return taken
        items = list(self._items)
        self._items.clear()
        return items
