"""Copies the agent's transcripts to a session store, as the agent writes them."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec

from claude_wrapper.messages import MirrorErrorMessage, SessionKey
from claude_wrapper.store.keys import TranscriptKey, key_of
from claude_wrapper.wire.ids import new_uuid

from .inbox import Inbox, Slot
from .spill import Batch, Spill

__all__ = ["MirrorTarget", "StoreMirror"]

logger = logging.getLogger("claude_wrapper.conversation")

_MAX_ENTRIES = 500
_MAX_BYTES = 1024 * 1024
_WAITING_BYTES = 16 * 1024 * 1024
"""How much may wait in memory for a slow store; what comes then waits on disk."""
_APPEND_SECONDS = 60.0
_CLOSE_SECONDS = 60.0
_PAUSES = (0.2, 0.8)
"""Seconds before the second and the third try."""
_TIMEOUTS = (TimeoutError, asyncio.TimeoutError)
_CLOSED = "the conversation was closed before it was written"


class MirrorTarget(msgspec.Struct, frozen=True):
    """Where transcripts are copied to, and when."""

    store: Any
    projects: Path
    """The folder below which the agent keeps its transcripts."""
    eager: bool = False
    """Append as soon as the agent has written, not when a turn is over or much has come together."""


class _Job:
    """Entries that wait to be appended, and how many bytes they had on the wire; None: they are on disk."""

    __slots__ = ("batch", "size")

    def __init__(self, batch: Batch | None, size: int) -> None:
        self.batch = batch
        self.size = size


class StoreMirror:
    """Collects entries and appends them in the background, one batch after another.

    Adding never waits: the agent is not held up by a slow store. What waits for the store is kept in
    memory up to a bound, and beyond it in a file. Each append is tried up to three times and then given
    up, which is reported by a message; the conversation goes on.
    """

    def __init__(self, target: MirrorTarget, inbox: Inbox, start: Callable[..., Any]) -> None:
        self._target = target
        self._inbox = inbox
        self._start = start
        self._collected: Batch = {}
        self._entries = 0
        self._bytes = 0
        self._writing: TranscriptKey | None = None
        self._queue: deque[_Job | Slot] = deque()
        self._spill = Spill()
        self._waiting = 0
        """How many bytes wait in memory."""
        self._failures: list[MirrorErrorMessage] = []
        self._passed_over: set[str] = set()
        self._idle: anyio.Event | None = None
        """Set when the background task has done all it had to; None when there is no such task."""

    def add(self, path: str, entries: list[Any], size: int) -> None:
        """Take over entries that the agent has written to a transcript."""
        key = key_of(path, self._target.projects)
        if key is None:
            self._pass_over(path)
            return
        self._collected.setdefault(key, []).extend(entries)
        self._entries += len(entries)
        self._bytes += size
        if self._target.eager or self._entries > _MAX_ENTRIES or self._bytes > _MAX_BYTES:
            self._enqueue()

    def flush(self) -> Slot | None:
        """Have appended what is there; return a slot that is filled when that is done, None if it is."""
        self._enqueue()
        if self._idle is None:
            return None
        slot = Slot()
        self._queue.append(slot)
        return slot

    async def finish(self) -> None:
        """Wait until everything is appended, or given up."""
        self._enqueue()
        while self._idle is not None:
            await self._idle.wait()

    async def close(self) -> None:
        """Wait as `finish` does, but not longer than a bound for all."""
        with anyio.move_on_after(_CLOSE_SECONDS):
            await self.finish()

    def _pass_over(self, path: str) -> None:
        if path not in self._passed_over:
            self._passed_over.add(path)
            self._report(None, f"{path} is no transcript below {self._target.projects}")
            self._inbox.put(self._taken_failures(), 0)

    def _enqueue(self) -> None:
        batch, self._collected = self._collected, {}
        size, self._entries, self._bytes = self._bytes, 0, 0
        batch = {key: entries for key, entries in batch.items() if entries}
        if not batch:
            return
        last = self._queue[-1] if self._queue else None
        if self._waiting + size > _WAITING_BYTES and self._idle is not None:
            self._put_on_disk(batch)
        elif isinstance(last, _Job) and last.batch is not None:
            for key, entries in batch.items():
                last.batch.setdefault(key, []).extend(entries)
            last.size += size
            self._waiting += size
        else:
            self._queue.append(_Job(batch, size))
            self._waiting += size
        if self._idle is None:
            self._idle = anyio.Event()
            self._start(self._work, self._idle)

    def _put_on_disk(self, batch: Batch) -> None:
        try:
            self._spill.put(batch)
        except OSError as error:
            for key in batch:
                self._report(
                    key, f"the session store is slow, and what waits for it cannot be kept on disk: {error}"
                )
        else:
            self._queue.append(_Job(None, 0))

    def _taken_from_disk(self) -> Batch:
        try:
            return self._spill.take()
        except (OSError, msgspec.DecodeError) as error:
            self._report(None, f"what waited for the session store on disk cannot be read: {error}")
            return {}

    async def _work(self, idle: anyio.Event) -> None:
        try:
            while self._queue:
                job = self._queue[0]
                if isinstance(job, Slot):
                    self._inbox.fill(job, self._taken_failures())
                else:
                    await self._append_all(job)
                self._queue.popleft()
        finally:
            self._abandon()
            self._spill.close()
            self._idle = None
            idle.set()

    async def _append_all(self, job: _Job) -> None:
        if job.batch is None:
            job.batch = self._taken_from_disk()
        batch = job.batch
        # What is added meanwhile may join this batch: it comes behind what was taken out.
        while batch:
            key = next(iter(batch))
            self._writing = key
            await self._append(key, batch.pop(key))
            self._writing = None
        self._waiting -= job.size

    async def _append(self, key: TranscriptKey, entries: list[Any]) -> None:
        error = await self._try(key, entries)
        for pause in _PAUSES:
            # After a timeout the entries may still arrive: another try could write them twice.
            if error is None or isinstance(error, _TIMEOUTS):
                break
            logger.debug("appending to the session store failed, trying again", exc_info=error)
            await anyio.sleep(pause)
            error = await self._try(key, entries)
        if error is not None:
            self._report(key, str(error) or repr(error))

    async def _try(self, key: TranscriptKey, entries: list[Any]) -> Exception | None:
        try:
            with anyio.fail_after(_APPEND_SECONDS):
                await self._target.store.append(_public(key), list(entries))
        except Exception as error:  # noqa: BLE001  # a user's store may raise anything
            return error
        return None

    def _abandon(self) -> None:
        """Give up what is left, when the conversation is closed in the middle of it."""
        if self._writing is not None:
            self._report(self._writing, _CLOSED)
            self._writing = None
        for job in self._queue:
            if isinstance(job, Slot):
                self._inbox.fill(job, self._taken_failures())
                continue
            for key in self._taken_from_disk() if job.batch is None else job.batch:
                self._report(key, _CLOSED)
        self._queue.clear()
        self._waiting = 0
        failures = self._taken_failures()
        if failures:
            self._inbox.put(failures, 0)

    def _report(self, key: TranscriptKey | None, error: str) -> None:
        logger.warning("a part of the transcript %s is not in the session store: %s", key, error)
        named = None if key is None else _public(key)
        data = {
            "type": "system",
            "subtype": "mirror_error",
            "error": error,
            "key": named,
            "uuid": new_uuid(),
            "session_id": "" if key is None else key.session_id,
        }
        self._failures.append(MirrorErrorMessage("mirror_error", data, named, error))

    def _taken_failures(self) -> list[MirrorErrorMessage]:
        failures, self._failures = self._failures, []
        return failures


def _public(key: TranscriptKey) -> SessionKey:
    if key.subpath:
        return {"project_key": key.project_key, "session_id": key.session_id, "subpath": key.subpath}
    return {"project_key": key.project_key, "session_id": key.session_id}
