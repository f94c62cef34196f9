"""Decides how many plays go on at the same time: most of a play is waiting, so as many as leave little of the processors idle."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

CORES = os.cpu_count() or 1
MOST = 4 * CORES
INTERVAL = 0.5
"""Seconds between two looks at the processors."""
IDLE, BUSY = 0.12, 0.03
"""Shares of idle time above which one more play fits, and below which there is one too many."""


class Crowd(Executor):
    """Plays what is submitted in its order, `jobs` at a time, or as many as the processors bear."""

    def __init__(self, jobs: int | None = None) -> None:
        self._room = Room(jobs)
        self._pool = ThreadPoolExecutor(jobs or MOST)

    def submit(self, play: Callable[..., T], /, *arguments: Any, **options: Any) -> Future[T]:
        return self._pool.submit(self._played, play, arguments, options)

    def _played(self, play: Callable[..., T], arguments: tuple[Any, ...], options: dict[str, Any]) -> T:
        self._room.enter()
        try:
            return play(*arguments, **options)
        finally:
            self._room.leave()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


class Room:
    """So many may be inside: a fixed number, or one that follows how idle the processors are."""

    def __init__(
        self, jobs: int | None, times: Callable[[], tuple[float, float] | None] | None = None
    ) -> None:
        self._fixed = jobs
        self._times = times or processor_times
        self._limit = jobs or CORES + 1
        self._inside = 0
        self._changed = threading.Condition()
        self._looked = time.monotonic()
        self._last = self._times()

    def enter(self) -> None:
        """Wait for a place."""
        with self._changed:
            while self._inside >= self.limit():
                self._changed.wait(INTERVAL)
            self._inside += 1

    def leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def limit(self) -> int:
        """How many may be inside now."""
        if self._fixed is None and time.monotonic() - self._looked >= INTERVAL:
            self._looked = time.monotonic()
            self.look()
        return self._limit

    def look(self) -> None:
        """Widen or narrow by one, by what the processors did since the last look."""
        last, self._last = self._last, self._times()
        if last is None or self._last is None:
            self._limit = 2 * CORES
            return
        idle, whole = (now - before for now, before in zip(self._last, last, strict=True))
        share = idle / whole if whole else 0.0
        if share > IDLE and self._inside >= self._limit:
            self._limit = min(self._limit + 1, MOST)
        elif share < BUSY:
            self._limit = max(self._limit - 1, CORES)


def processor_times() -> tuple[float, float] | None:
    """What all processors have idled, and all of their time; None where the system does not tell."""
    try:
        fields = [float(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except (OSError, ValueError, IndexError):
        return None
    return fields[3] + fields[4], sum(fields)
