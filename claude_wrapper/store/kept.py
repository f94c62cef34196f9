"""The messages that a compaction kept word for word: they stand ahead of its border and belong behind its summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .entries import StoredEntry

__all__ = ["with_kept"]


def with_kept(chained: Mapping[str, StoredEntry], branch: Sequence[StoredEntry]) -> list[StoredEntry]:
    """A branch with what its newest compaction kept; `chained` are all entries of the transcript."""
    note = next((entry.compact_metadata for entry in reversed(branch) if entry.compact_metadata), None)
    if note is None:
        return list(branch)
    if note.preserved_messages is not None:
        anchor, uuids = note.preserved_messages.anchor_uuid, note.preserved_messages.uuids
    elif note.preserved_segment is not None:
        segment = note.preserved_segment
        anchor, uuids = segment.anchor_uuid, _between(chained, segment.head_uuid, segment.tail_uuid)
    else:
        return list(branch)
    there = {entry.uuid for entry in branch}
    kept = [chained[uuid] for uuid in dict.fromkeys(uuids) if uuid in chained and uuid not in there]
    whole: list[StoredEntry] = []
    for entry in branch:
        whole.append(entry)
        if entry.uuid == anchor:
            whole += kept
    return whole


def _between(chained: Mapping[str, StoredEntry], head: str, tail: str) -> list[str]:
    """The ids on the way from `tail` up to `head`, in the order of the conversation."""
    found: dict[str, None] = {}
    uuid: str | None = tail
    while uuid is not None and uuid in chained and uuid not in found:
        found[uuid] = None
        if uuid == head:
            return list(reversed(found))
        uuid = chained[uuid].parent_uuid
    return []
