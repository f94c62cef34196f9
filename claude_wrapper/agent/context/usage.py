"""How much of the context window is used, and by what: an estimate, made without asking the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from claude_wrapper.wire.codec import encode

__all__ = ["ContextShares", "measure"]

_BYTES_PER_TOKEN = 4


class ContextShares(msgspec.Struct, frozen=True):
    """Tokens by kind of content."""

    system: int
    tools: int
    messages: int

    @property
    def total(self) -> int:
        """All that is used."""
        return self.system + self.tools + self.messages


def measure(system: Sequence[str], tools: Sequence[Any], messages: Sequence[Any]) -> ContextShares:
    """Estimate the shares from the size of what would be sent."""
    return ContextShares(_tokens(system), _tokens(tools), _tokens(messages))


def _tokens(values: Sequence[Any]) -> int:
    return sum(-(-len(encode(value)) // _BYTES_PER_TOKEN) for value in values)
