"""Copying a conversation into another session, under that session's id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from .history import Conversation, read_entries
from .kept import kept_links

__all__ = ["forked_lines"]

_object_decoder = msgspec.json.Decoder(dict[str, Any])


def forked_lines(path: Path, conversation: Conversation, session_id: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of `conversation` as they stand in `path`, but of session `session_id`.

    Entries keep their uuids, so that a place in the old session names the same place in the new one.
    """
    wanted = {entry.uuid for entry in conversation.entries}
    links = kept_links(conversation.entries)
    moved: dict[str, dict[str, Any]] = {}
    replies = {entry.message.get("id") for entry in conversation.entries if entry.message is not None}
    for line, entry in read_entries(path):
        if entry.uuid in wanted or (entry.uuid is None and entry.message_id in replies):
            copy = {**_object_decoder.decode(line), "sessionId": session_id}
            if links and entry.uuid is not None:
                moved[entry.uuid] = {**copy, "parentUuid": links.get(entry.uuid, entry.parent_uuid)}
            else:
                yield copy
    # What a compaction kept stands ahead of its summary in the old file, and behind it in the new one.
    yield from (moved[entry.uuid] for entry in conversation.entries if entry.uuid in moved)
