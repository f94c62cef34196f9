"""Correlates requests with their replies: ids, outcomes, withdrawal. No I/O, no waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PendingReplies", "Slot"]

T = TypeVar("T")


class Slot(Generic[T]):
    """Where the outcome of one request is put: a value or an error, once."""

    __slots__ = ("_on_done", "done", "error", "on_value", "request_id", "value")

    def __init__(self, request_id: str, on_done: Callable[[], object]) -> None:
        self.request_id = request_id
        self.done = False
        self.value: T | None = None
        self.error: Exception | None = None
        self.on_value: Callable[[T], object] | None = None
        """Called with the answer the moment it comes, before anything that comes after it."""
        self._on_done = on_done

    def resolve(self, value: T) -> None:
        """Give the request its answer; later outcomes are ignored."""
        if not self.done:
            self.value, self.done = value, True
            if self.on_value is not None:
                self.on_value(value)
            self._on_done()

    def fail(self, error: Exception) -> None:
        """Give the request its failure; later outcomes are ignored."""
        if not self.done:
            self.error, self.done = error, True
            self._on_done()


class PendingReplies(Generic[T]):
    """The requests that wait for a reply.

    Once failed as a whole it stays failed: requests opened later fail at once with the same error.
    """

    def __init__(self) -> None:
        self._slots: dict[str, Slot[T]] = {}
        self._fatal: Exception | None = None

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def fatal(self) -> Exception | None:
        """The error that ended everything, if something has."""
        return self._fatal

    def open(self, request_id: str, on_done: Callable[[], object]) -> Slot[T]:
        """Register a request; `on_done` is called when its slot gets an outcome."""
        slot: Slot[T] = Slot(request_id, on_done)
        if self._fatal is not None:
            slot.fail(self._fatal)
        else:
            self._slots[request_id] = slot
        return slot

    def close(self, slot: Slot[T]) -> bool:
        """Forget a request; True when it was still waiting, so that the other side should be told."""
        return self._slots.pop(slot.request_id, None) is not None

    def resolve(self, request_id: str, value: T) -> bool:
        """Hand a reply to its request; False when nobody waits for it."""
        slot = self._slots.pop(request_id, None)
        if slot is not None:
            slot.resolve(value)
        return slot is not None

    def fail_all(self, error: Exception) -> None:
        """Fail every waiting request, and every later one, with `error`; the first error stays."""
        if self._fatal is None:
            self._fatal = error
        slots, self._slots = self._slots, {}
        for slot in slots.values():
            slot.fail(self._fatal)
