"""Messages that have arrived and were not taken yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

import anyio

__all__ = ["Inbox"]


class Inbox:
    """A queue without a bound on its count, between the reader and whoever iterates.

    The reader never waits to put something in. It may ask whether the unread part is large
    (`is_full`) and wait until it has been taken (`drained`), when nothing else depends on it.
    """

    def __init__(self, max_unread_bytes: int) -> None:
        self._items: deque[Any] = deque()
        self._max_unread = max_unread_bytes
        self._unread = 0
        self._arrived = anyio.Event()
        self._drained = anyio.Event()
        self.ended = False
        self.closed = False
        """Whether the user closed the conversation, so that the end is no surprise."""
        self.error: Exception | None = None
        """Why the stream ended; raised by every iteration that comes to the end."""

    def __len__(self) -> int:
        return len(self._items)

    def put(self, messages: Iterable[Any], size: int) -> None:
        """Add messages that took `size` bytes on the wire."""
        self._items.extend(messages)
        self._unread += size
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
        """Wait until there is a message; False at the end."""
        while not self._items:
            self._unread = 0
            self._drained.set()
            if self.ended:
                return False
            if self._arrived.is_set():
                self._arrived = anyio.Event()
            await self._arrived.wait()
        return True

    def take(self) -> Any:
        """Take the oldest message; only right after `wait` said there is one."""
        return self._items.popleft()

    def take_all(self) -> list[Any]:
        """Take everything that is there."""
        items = list(self._items)
        self._items.clear()
        return items
