"""Copying a transcript into a session of its own, whose entries have ids of their own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import msgspec

from claude_wrapper.wire.ids import new_uuid

from .edits import title_entry
from .entries import CHAIN_TYPES
from .lines import EntryReader, Lines, WholeReader
from .paths import is_session_id
from .summary import Facts, SummaryEntry

__all__ = ["Duplicate", "check_place", "stamped"]

_COPIED = CHAIN_TYPES - {"progress"}
_NOTES = frozenset({"content-replacement", "reply-end"})
"""Notes that are about copied entries; all others are about the state of the session."""
_NOT_COPIED = ("teamName", "slug")


class _Original(SummaryEntry, rename="camel"):
    uuid: str | None = None
    parent_uuid: str | None = None


_original_reader = EntryReader(_Original)
_whole_reader = WholeReader()


class Duplicate:
    """A copy of a transcript, up to and including the entry `up_to` if that is given.

    All its branches are copied, but neither what subagents said nor the state of the session. Raises
    ValueError when there is no such entry, or nothing to copy.
    """

    def __init__(self, lines: Lines, source_id: str, up_to: str | None, title: str | None) -> None:
        self.session_id = new_uuid()
        self._lines = lines
        self._source_id = source_id
        self._time = _now()
        self._facts = Facts()
        self._ids: dict[str, str] = {}
        self._parents: dict[str, str | None] = {}
        self._copied: list[tuple[int, str | None]] = []
        at_end = self._find(up_to)
        if up_to is not None and not at_end:
            raise ValueError(f"Message {up_to} not found in session {source_id}")
        if not self._ids:
            raise ValueError(f"Session {source_id} has no messages to fork")
        self._title = (title or "").strip() or self._derived_title()

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the entries of the copy."""
        last = next(place for place, uuid in reversed(self._copied) if uuid is not None)
        for place, uuid in self._copied:
            entry = self._lines.get(place, _whole_reader)
            if entry is None:
                continue
            if uuid is not None:
                self._move(entry, uuid)
            entry["sessionId"] = self.session_id
            if place == last or "timestamp" not in entry:
                # The copy begins its own life where it ends.
                entry["timestamp"] = self._time
            yield {"uuid": new_uuid(), **entry}
        yield stamped(title_entry(self.session_id, self._title))

    def _find(self, up_to: str | None) -> bool:
        """Find what is copied; return whether that ends with `up_to`."""
        at_end = False
        for place, original in self._lines.read(_original_reader):
            self._facts.take(original)
            uuid = original.uuid
            if uuid is not None:
                self._parents[uuid] = original.parent_uuid
            if original.type in _NOTES:
                self._copied.append((place, None))
            elif (
                uuid is not None and not at_end and original.type in CHAIN_TYPES and not original.is_sidechain
            ):
                if original.type in _COPIED:
                    self._ids[uuid] = new_uuid()
                    self._copied.append((place, uuid))
                at_end = uuid == up_to
        return at_end

    def _move(self, entry: dict[str, Any], uuid: str) -> None:
        """Make an entry one of the copy's."""
        entry["uuid"] = self._ids[uuid]
        entry["parentUuid"] = self._new_parent(uuid)
        entry["isSidechain"] = False
        for name in ("logicalParentUuid", "sourceToolAssistantUUID"):
            if name in entry:
                entry[name] = self._ids.get(_text(entry[name]) or "")
        for name in _NOT_COPIED:
            entry.pop(name, None)
        entry["forkedFrom"] = {"sessionId": self._source_id, "messageUuid": uuid}

    def _new_parent(self, uuid: str) -> str | None:
        """Return the copy of the nearest ancestor that was copied."""
        passed = {uuid}
        parent = self._parents[uuid]
        while parent is not None and parent not in passed:
            if parent in self._ids:
                return self._ids[parent]
            passed.add(parent)
            parent = self._parents.get(parent)
        return None

    def _derived_title(self) -> str:
        return f"{self._facts.title or self._facts.opening or 'Forked session'} (fork)"


def check_place(uuid: str | None) -> None:
    """Raise ValueError for what cannot be the id of an entry."""
    if uuid is not None and not is_session_id(uuid):
        raise ValueError(f"Invalid up_to_message_id: {uuid}")


def stamped(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with an id and the time, by which stores tell entries apart."""
    return {**entry, "uuid": new_uuid(), "timestamp": _now()}


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(value: Any) -> str | None:
    if isinstance(value, msgspec.Raw):
        value = msgspec.json.decode(value)
    return value if isinstance(value, str) else None
