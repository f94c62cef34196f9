"""The tree that the entries of a transcript form: its newest branch, and what belongs to that beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

__all__ = ["Node", "newest_branch"]


class Node(msgspec.Struct, eq=False):
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


def newest_branch(nodes: dict[str, Node], *, whole: bool) -> Iterator[Node]:
    """Yield the newest branch, from its root on, with all blocks and results of its replies.

    `whole`: a message of others can end it as well.
    """
    leaf = _leaf(nodes, whole=whole)
    if leaf is not None:
        yield from _completed(_chain(nodes, leaf), nodes)


def _leaf(nodes: dict[str, Node], *, whole: bool) -> Node | None:
    """Return the message that ends the newest branch."""
    parents = {node.parent for node in nodes.values()}
    ends = [node for uuid, node in nodes.items() if uuid not in parents] or list(nodes.values())
    last_spoken = _last_spoken(nodes, ends)
    own = [node for node in last_spoken if whole or not node.of_others]
    return max(own or last_spoken, key=lambda node: node.index, default=None)


def _last_spoken(nodes: dict[str, Node], ends: Iterable[Node]) -> list[Node]:
    """Return the last message of each branch; parts that branches share are walked once."""
    found: list[Node] = []
    seen: set[int] = set()
    for end in ends:
        node: Node | None = end
        while node is not None and node.index not in seen:
            seen.add(node.index)
            if node.spoken:
                found.append(node)
                break
            node = nodes.get(node.parent or "")
    return found


def _chain(nodes: dict[str, Node], leaf: Node) -> list[Node]:
    chain = [leaf]
    seen = {leaf.index}
    node = nodes.get(leaf.parent or "")
    while node is not None and node.index not in seen:
        seen.add(node.index)
        chain.append(node)
        node = nodes.get(node.parent or "")
    chain.reverse()
    return chain


def _completed(chain: list[Node], nodes: dict[str, Node]) -> Iterator[Node]:
    """Yield a chain with what belongs to its replies but hangs beside it.

    Results of tools that ran side by side hang on their own calls, so that a chain has only one of
    them. They follow the last block of the reply.
    """
    on_chain = {node.index for node in chain}
    last_block = {node.reply: node for node in chain if node.reply is not None}
    blocks: dict[str, list[Node]] = defaultdict(list)
    results: dict[str, list[Node]] = defaultdict(list)
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
