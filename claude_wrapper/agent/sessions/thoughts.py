"""Which model thought what: another one cannot read it, and is not sent it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["THINKING", "Thoughts"]

THINKING = frozenset({"thinking", "redacted_thinking"})
_NOTHING = {"type": "text", "text": "(no content)"}
"""The API takes no empty message."""

Message = Mapping[str, Any]


class Thoughts:
    """The thinking in a conversation, and whose it is. Thinking of unknown origin is anybody's."""

    def __init__(self) -> None:
        self._by_block: dict[int, tuple[Mapping[str, Any], str]] = {}
        self._models: set[str] = set()
        self._without: dict[int, tuple[Message, int, frozenset[str], Message]] = {}

    def note(self, block: Mapping[str, Any], model: str) -> None:
        """Remember who wrote a block, if it is thinking."""
        if block.get("type") in THINKING:
            # Kept with its block, whose identity would pass to another one otherwise.
            self._by_block[id(block)] = (block, model)
            self._models.add(model)

    def readable(self, messages: Sequence[Message], is_own: Callable[[str], bool]) -> Sequence[Message]:
        """The messages as they are sent to a model; `is_own` knows its names."""
        foreign = frozenset(model for model in self._models if not is_own(model))
        if not foreign:
            return messages
        return [self._read(message, foreign) for message in messages]

    def _read(self, message: Message, foreign: frozenset[str]) -> Message:
        """The message without thinking of others; the same one each time, since it is known by that."""
        content = message["content"]
        if message["role"] != "assistant" or not any(self._is_of(block, foreign) for block in content):
            return message
        known = self._without.get(id(message))
        if known is not None and known[0] is message and known[1:3] == (len(content), foreign):
            return known[3]
        kept = [block for block in content if not self._is_of(block, foreign)]
        without = {**message, "content": kept or [_NOTHING]}
        self._without[id(message)] = (message, len(content), foreign, without)
        return without

    def _is_of(self, block: Any, models: frozenset[str]) -> bool:
        known = self._by_block.get(id(block))
        return known is not None and known[1] in models
