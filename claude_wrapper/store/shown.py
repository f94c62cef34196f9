"""Which entries of a transcript are shown as its conversation, and in which order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from .entries import CHAIN_TYPES
from .lines import EntryReader, Lines

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


_link_reader = EntryReader(_Link)
_shown_reader = EntryReader(ShownEntry)


class _Node(msgspec.Struct, eq=False):
    """What is kept of an entry until it is known whether it is shown."""

    index: int
    place: int
    parent: str | None
    spoken: bool
    of_others: bool
    """Whether the agent itself, a subagent or a teammate speaks."""
    reply: str | None
    """What the blocks of one reply have in common."""
    answers: str | None
    """The assistant entry whose tool call a result belongs to."""


def shown(lines: Lines, limit: int | None, offset: int, *, whole: bool = False) -> Iterator[ShownEntry]:
    """Yield the messages of the newest branch; of a branch that was compacted, those since.

    `whole` shows the messages of others too, as in the transcript of a subagent, which has no others.
    """
    nodes = _nodes(lines)
    leaf = _leaf(nodes, whole=whole)
    if leaf is None:
        return
    chosen = [
        node
        for node in _completed(_chain(nodes, leaf), nodes)
        if node.spoken and (whole or not node.of_others)
    ]
    for node in page(chosen, limit, offset):
        entry = lines.get(node.place, _shown_reader)
        if entry is not None:
            yield entry


def page(items: Sequence[T], limit: int | None, offset: int) -> Sequence[T]:
    """Return `limit` items from `offset` on; without a positive limit all of them."""
    start = max(offset, 0)
    return items[start : start + limit] if limit is not None and limit > 0 else items[start:]


def _nodes(lines: Lines) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    for index, (place, link) in enumerate(lines.read(_link_reader)):
        if link.uuid is None or link.type not in CHAIN_TYPES:
            continue
        message = link.message or _Message()
        is_result = link.type == "user" and _has_result(message)
        nodes[link.uuid] = _Node(
            index,
            place,
            link.parent_uuid,
            link.type in _SPOKEN,
            link.is_meta or link.is_sidechain or bool(link.team_name),
            (message.id or link.uuid) if link.type == "assistant" else None,
            (link.source_tool_assistant_uuid or link.parent_uuid) if is_result else None,
        )
    return nodes


def _has_result(message: _Message) -> bool:
    return isinstance(message.content, list) and any(block.type == "tool_result" for block in message.content)


def _leaf(nodes: dict[str, _Node], *, whole: bool) -> _Node | None:
    """Return the message that ends the newest branch."""
    parents = {node.parent for node in nodes.values()}
    ends = [node for uuid, node in nodes.items() if uuid not in parents] or list(nodes.values())
    last_spoken = _last_spoken(nodes, ends)
    own = [node for node in last_spoken if whole or not node.of_others]
    return max(own or last_spoken, key=lambda node: node.index, default=None)


def _last_spoken(nodes: dict[str, _Node], ends: Iterable[_Node]) -> list[_Node]:
    """Return the last message of each branch; parts that branches share are walked once."""
    found: list[_Node] = []
    seen: set[int] = set()
    for end in ends:
        node: _Node | None = end
        while node is not None and node.index not in seen:
            seen.add(node.index)
            if node.spoken:
                found.append(node)
                break
            node = nodes.get(node.parent or "")
    return found


def _chain(nodes: dict[str, _Node], leaf: _Node) -> list[_Node]:
    chain = [leaf]
    seen = {leaf.index}
    node = nodes.get(leaf.parent or "")
    while node is not None and node.index not in seen:
        seen.add(node.index)
        chain.append(node)
        node = nodes.get(node.parent or "")
    chain.reverse()
    return chain


def _completed(chain: list[_Node], nodes: dict[str, _Node]) -> Iterator[_Node]:
    """Yield a chain with what belongs to its replies but hangs beside it.

    Results of tools that ran side by side hang on their own calls, so that a chain has only one of
    them. They follow the last block of the reply.
    """
    on_chain = {node.index for node in chain}
    last_block = {node.reply: node for node in chain if node.reply is not None}
    blocks: dict[str, list[_Node]] = defaultdict(list)
    results: dict[str, list[_Node]] = defaultdict(list)
    for node in nodes.values():
        if node.index in on_chain:
            continue
        call = nodes.get(node.answers or "")
        if node.reply in last_block:
            blocks[node.reply].append(node)
        elif call is not None and call.reply in last_block:
            results[call.reply].append(node)
    for node in chain:
        yield node
        if node.reply is not None and last_block[node.reply] is node:
            yield from blocks[node.reply]
            yield from results[node.reply]
