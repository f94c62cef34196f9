"""Which entries of a transcript are shown as its conversation, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from .entries import CHAIN_TYPES
from .lines import EntryReader, Lines
from .tree import Node, newest_branch

__all__ = ["ShownEntry", "page", "shown"]

T = TypeVar("T")

_SPOKEN = frozenset({"user", "assistant"})


class ShownEntry(msgspec.Struct, rename="camel"):
    """A message, as users of the session functions get it."""

    type: str = ""
    uuid: str = ""
    session_id: str = ""
    message: Any = None


class _Block(msgspec.Struct):
    type: str = ""


class _Message(msgspec.Struct):
    id: str | None = None
    content: list[_Block] | str | None = None


class _Link(msgspec.Struct, rename="camel"):
    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    team_name: str | None = None
    source_tool_assistant_uuid: str | None = msgspec.field(default=None, name="sourceToolAssistantUUID")
    message: _Message | None = None
    message_id: str | None = None


class _End(msgspec.Struct, rename="camel"):
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


_link_reader = EntryReader(_Link)
_shown_reader = EntryReader(ShownEntry)
_end_reader = EntryReader(_End)


def shown(lines: Lines, limit: int | None, offset: int, *, whole: bool = False) -> Iterator[ShownEntry]:
    """Yield the messages of the newest branch; of a branch that was compacted, those since.

    `whole` shows the messages of others too, as in the transcript of a subagent, which has no others.
    """
    found = _Found(lines)
    branch = newest_branch(found.nodes, whole=whole)
    chosen = [node for node in branch if node.spoken and (whole or not node.of_others)]
    for node in page(chosen, limit, offset):
        entry = lines.get(node.place, _shown_reader)
        if entry is not None:
            found.complete(entry, node)
            yield entry


def page(items: Sequence[T], limit: int | None, offset: int) -> Sequence[T]:
    """Return `limit` items from `offset` on; without a positive limit all of them."""
    start = max(offset, 0)
    return items[start : start + limit] if limit is not None and limit > 0 else items[start:]


class _Found:
    """What is kept of a transcript's lines until it is known which of them are shown."""

    def __init__(self, lines: Lines) -> None:
        self.nodes: dict[str, Node] = {}
        self._lines = lines
        self._ends: dict[str, int] = {}
        for index, (place, link) in enumerate(lines.read(_link_reader)):
            if link.type == "reply-end" and link.message_id is not None:
                self._ends[link.message_id] = place
            elif link.uuid is not None and link.type in CHAIN_TYPES:
                self.nodes[link.uuid] = _node(index, place, link)

    def complete(self, entry: ShownEntry, node: Node) -> None:
        """Say in a block of a reply how the reply ended, where that was written down behind its blocks."""
        place = self._ends.get(node.reply or "")
        end = None if place is None else self._lines.get(place, _end_reader)
        if end is not None and isinstance(entry.message, dict):
            entry.message = {**entry.message, "stop_reason": end.stop_reason, "usage": end.usage}


def _node(index: int, place: int, link: _Link) -> Node:
    message = link.message or _Message()
    is_result = link.type == "user" and _has_result(message)
    return Node(
        index,
        place,
        link.parent_uuid,
        link.type in _SPOKEN,
        link.is_meta or link.is_sidechain or bool(link.team_name),
        (message.id or link.uuid) if link.type == "assistant" else None,
        (link.source_tool_assistant_uuid or link.parent_uuid) if is_result else None,
    )


def _has_result(message: _Message) -> bool:
    return isinstance(message.content, list) and any(block.type == "tool_result" for block in message.content)
