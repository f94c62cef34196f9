"""The end of the conversation, from its newest reply on: which entries it is, and how full the window was by then."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from claude_wrapper.store.entries import StoredEntry

__all__ = ["Recent", "recent_of"]

_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class Recent:
    """Follows what is added to a conversation."""

    def __init__(self) -> None:
        self.uuids: list[str] = []
        self.tokens: int | None = None
        """Tokens of the newest request and its reply; None where none was answered since the last compaction."""
        self.counted_at: float | None = None
        """When this process was told of those, by the monotonic clock."""
        self.dropped = 0
        """Tokens that all compactions so far have saved."""

    def add(self, uuid: str, *, begins: bool = False) -> None:
        """An entry was added; `begins`: a reply begins with it."""
        if begins:
            self.uuids = []
        self.uuids.append(uuid)

    def count(self, usage: Mapping[str, Any]) -> None:
        """A reply is complete, and says what it took."""
        self.tokens = _total(usage)
        self.counted_at = time.monotonic()

    def compacted(self, uuids: list[str]) -> None:
        """Nothing but these entries is left, behind a summary."""
        self.uuids = list(uuids)
        self.tokens = None


def recent_of(entries: Iterable[StoredEntry]) -> Recent:
    """The end of a stored conversation."""
    recent = Recent()
    in_reply = False
    kept: set[str] = set()
    for entry in entries:
        if entry.compact_metadata is not None:
            recent.dropped = entry.compact_metadata.cumulative_dropped_tokens or recent.dropped
            messages = entry.compact_metadata.preserved_messages
            kept = set() if messages is None else set(messages.uuids)
        if entry.message is None or entry.uuid is None or entry.is_api_error_message:
            continue
        recent.add(entry.uuid, begins=entry.type == "assistant" and not in_reply)
        in_reply = entry.type == "assistant"
        usage = entry.message.get("usage")
        # What was kept tells how full the window was before.
        if in_reply and isinstance(usage, dict) and entry.uuid not in kept:
            recent.count(usage)
    recent.counted_at = None
    return recent


def _total(usage: Mapping[str, Any]) -> int:
    return sum(count for name in _COUNTS if isinstance(count := usage.get(name), int))
