"""The messages that a compaction kept word for word: they stand ahead of its border and belong behind its summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .entries import StoredEntry

__all__ = ["kept_links", "with_kept"]


def with_kept(chained: Mapping[str, StoredEntry], branch: Sequence[StoredEntry]) -> list[StoredEntry]:
    """A branch with what its newest compaction kept; `chained` are all entries of the transcript."""
    anchor, uuids = _kept(chained, branch)
    there = {entry.uuid for entry in branch}
    kept = [chained[uuid] for uuid in dict.fromkeys(uuids) if uuid in chained and uuid not in there]
    whole: list[StoredEntry] = []
    for entry in branch:
        whole.append(entry)
        if entry.uuid == anchor:
            whole += kept
    return whole


def kept_links(entries: Sequence[StoredEntry]) -> dict[str, str]:
    """The parents of entries, by their ids, that make one chain of a branch and what was kept in it."""
    anchor, uuids = _kept({entry.uuid: entry for entry in entries if entry.uuid}, entries)
    kept = set(uuids)
    there = [entry.uuid for entry in entries if entry.uuid is not None and entry.uuid in kept]
    if not there:
        return {}
    links = {
        entry.uuid: there[-1]
        for entry in entries
        if entry.uuid is not None and entry.parent_uuid == anchor and entry.uuid not in kept
    }
    return {**links, there[0]: anchor}


def _kept(chained: Mapping[str, StoredEntry], branch: Sequence[StoredEntry]) -> tuple[str, list[str]]:
    """The summary's id and those of what was kept behind it, by the newest border of the branch."""
    note = next((entry.compact_metadata for entry in reversed(branch) if entry.compact_metadata), None)
    if note is None:
        return "", []
    if note.preserved_messages is not None:
        return note.preserved_messages.anchor_uuid, note.preserved_messages.uuids
    segment = note.preserved_segment
    if segment is None:
        return "", []
    return segment.anchor_uuid, _between(chained, segment.head_uuid, segment.tail_uuid)


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
