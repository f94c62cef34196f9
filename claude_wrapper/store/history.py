"""Reading a conversation back: the chain of a transcript's newest branch, with all its tool results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import field

from .entries import CHAIN_TYPES, StoredEntry
from .kept import with_kept
from .lines import EntryReader, read_file

__all__ = ["Conversation", "MessageNotFoundError", "read_conversation", "read_entries"]

_reader = EntryReader(StoredEntry)


class MessageNotFoundError(Exception):
    """No entry of the transcript has the uuid that was asked for."""


class Conversation(msgspec.Struct):
    """What a transcript says: the entries of the conversation in order, and the state beside it."""

    entries: list[StoredEntry] = field(default_factory=list)
    leaf: str | None = None
    permission_mode: str | None = None
    title: str | None = None
    total_cost_usd: float = 0.0
    total_api_duration: float = 0.0
    model_usage: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_entries(path: Path) -> Iterator[tuple[bytes, StoredEntry]]:
    """Yield the lines of a transcript with their entries; lines that are no entry are skipped."""
    return read_file(path, _reader)


def read_conversation(path: Path, until: str | None = None) -> Conversation:
    """Read the newest branch of a transcript, up to the entry `until` if that is given."""
    found = Conversation()
    chained: dict[str, StoredEntry] = {}
    replies: dict[str, StoredEntry] = {}
    for _, entry in read_entries(path):
        if entry.uuid is not None and entry.type in CHAIN_TYPES:
            if not entry.is_sidechain:
                chained[entry.uuid] = entry
                found.permission_mode = entry.permission_mode or found.permission_mode
        elif entry.type == "reply-end" and entry.message_id:
            replies[entry.message_id] = entry
        else:
            _note_state(found, entry)
    if until is not None and until not in chained:
        raise MessageNotFoundError(until)
    found.leaf = until or next(reversed(chained), None)
    found.entries = with_kept(chained, _branch(chained, found.leaf))
    _complete_replies(found.entries, replies)
    return found


def _note_state(found: Conversation, entry: StoredEntry) -> None:
    if entry.type == "custom-title":
        found.title = entry.custom_title
    elif entry.type == "cost-state":
        found.total_cost_usd = entry.total_cost_usd or 0.0
        found.total_api_duration = entry.total_api_duration or 0.0
        found.model_usage = entry.model_usage or {}


def _branch(chained: dict[str, StoredEntry], leaf: str | None) -> list[StoredEntry]:
    """The entries from the root to the leaf, in the order of the file.

    Results of tools that ran side by side hang on their own calls, so that walking up from the
    leaf meets only one of them, and not the calls behind that one's: the blocks of one reply
    belong together, and the other results are taken in by the call they belong to.
    """
    on_branch: set[str] = set()
    uuid = leaf
    while uuid is not None and uuid in chained and uuid not in on_branch:
        on_branch.add(uuid)
        uuid = chained[uuid].parent_uuid
    replies = {_reply_id(chained[uuid]) for uuid in on_branch}
    on_branch |= {uuid for uuid, entry in chained.items() if _reply_id(entry) in replies - {None}}
    wanted = []
    for key, entry in chained.items():
        if key in on_branch or (entry.source_tool_assistant_uuid in on_branch and _is_result(entry)):
            wanted.append(entry)
        if key == leaf:
            break
    return wanted


def _reply_id(entry: StoredEntry) -> str | None:
    """The id of the model's message that an entry is a block of."""
    if entry.type != "assistant" or entry.message is None:
        return None
    reply_id = entry.message.get("id")
    return reply_id if isinstance(reply_id, str) else None


def _is_result(entry: StoredEntry) -> bool:
    content = (entry.message or {}).get("content")
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    )


def _complete_replies(entries: Iterable[StoredEntry], replies: dict[str, StoredEntry]) -> None:
    for entry in entries:
        if entry.type == "assistant" and entry.message is not None:
            end = replies.get(str(entry.message.get("id")))
            if end is not None:
                entry.message = {**entry.message, "stop_reason": end.stop_reason, "usage": end.usage}
