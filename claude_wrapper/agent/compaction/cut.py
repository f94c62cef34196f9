"""Where a conversation is cut: what of it is summed up, and what is kept as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

__all__ = ["Cut", "cut", "cut_when_too_long", "shorter", "too_little"]

Message = dict[str, Any]

_LEAST_ROUNDS = 3
"""With fewer there is nothing to gain: the newest is kept, and the summary would be as long as the rest."""


class Cut(msgspec.Struct, frozen=True):
    """What is to be summed up, and the number of the first message that is kept."""

    summed: list[Message]
    kept: int
    least: list[Message]
    """What has to be in the summary; `summed` may go further, so that no prompt stands there unanswered."""


def cut(messages: Sequence[Message], *, keep: bool = True) -> Cut | None:
    """Cut before the newest reply; None where there is too little. Without `keep` everything is summed up."""
    newest = _newest_reply(messages)
    if newest is None:
        return None
    if not keep or _rounds(messages) < _LEAST_ROUNDS:
        return Cut(list(messages), len(messages), list(messages))
    before, behind = list(messages[:newest]), messages[newest + 1 :]
    if behind and _is_prompt(behind[-1]):
        summed = [*before, messages[newest]]
    elif _is_prompt(before[-1]):
        summed = list(messages)
    else:
        summed = before
    return Cut(summed, newest, before)


def too_little(messages: Sequence[Message]) -> bool:
    """Whether nothing is gained by summing up what is older than the newest reply."""
    return _rounds(messages) < _LEAST_ROUNDS


def cut_when_too_long(messages: Sequence[Message]) -> Cut | None:
    """Cut a conversation that the API found too long, so that the request for the summary is shorter."""
    newest = _newest_reply(messages)
    if newest is None:
        return None
    if _rounds(messages) >= _LEAST_ROUNDS:
        before = list(messages[:newest])
        return Cut(before, newest, before)
    if newest + 1 < len(messages) and _is_prompt(messages[-1]):
        before = list(messages[: newest + 1])
        return Cut(before, newest + 1, before)
    return Cut(list(messages), len(messages), list(messages))


def shorter(messages: Sequence[Message]) -> list[Message] | None:
    """The newer half of what was to be summed up, for when that is too long, too; None where it has no halves."""
    starts = [
        index
        for index, message in enumerate(messages)
        if index and message["role"] == "user" and not _has_results(message)
    ]
    later = [index for index in starts if index >= len(messages) // 2] or starts[-1:]
    return list(messages[later[0] :]) if later else None


def _newest_reply(messages: Sequence[Message]) -> int | None:
    return next(
        (index for index in range(len(messages) - 1, -1, -1) if messages[index]["role"] == "assistant"), None
    )


def _rounds(messages: Sequence[Message]) -> int:
    """Replies, each with what answers it, and the prompt before the first of them."""
    replies = [message for message in messages if message["role"] == "assistant"]
    return len(replies) + int(bool(messages) and messages[0]["role"] == "user")


def _is_prompt(message: Message) -> bool:
    return message["role"] == "user" and not _has_results(message)


def _has_results(message: Message) -> bool:
    return any(block.get("type") == "tool_result" for block in message["content"])
