"""Token counts: read from the API's objects, merged over a reply, added up over many."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["CacheCreation", "OutputDetails", "ServerToolUse", "Usage", "read_usage"]

_MOST = 1e15
"""No reply takes so many tokens."""


class CacheCreation(msgspec.Struct, frozen=True):
    """Tokens written to the prompt cache, by how long they stay there."""

    ephemeral_1h_input_tokens: int = 0
    ephemeral_5m_input_tokens: int = 0


class ServerToolUse(msgspec.Struct, frozen=True):
    """How often tools at the provider were used."""

    web_search_requests: int = 0
    web_fetch_requests: int = 0


class OutputDetails(msgspec.Struct, frozen=True):
    """What the output tokens were spent on."""

    thinking_tokens: int = 0


class Usage(msgspec.Struct, frozen=True):
    """Token counts of one reply, or the sum of several.

    `cache_creation_input_tokens` counts all cache writes; `cache_creation` says how they divide,
    where the API told it.
    """

    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0
    output_tokens_details: OutputDetails = OutputDetails()
    server_tool_use: ServerToolUse = ServerToolUse()
    cache_creation: CacheCreation = CacheCreation()
    service_tier: str | None = None
    inference_geo: str | None = None
    speed: str | None = None

    @property
    def prompt_tokens(self) -> int:
        """Everything that the model read: the size of the context."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens

    def __add__(self, other: Usage) -> Usage:
        total: Usage = _combine(self, other, int.__add__)
        return total

    def updated(self, raw: dict[str, Any] | None) -> Usage:
        """This usage after a later report of the same reply.

        Later reports are totals, so they replace; but servers leave out, or set to zero, what
        they said at the start and do not count again.
        """
        merged: Usage = _combine(self, read_usage(raw), lambda old, new: new or old)
        return merged

    def with_output(self, tokens: int) -> Usage:
        """The same with at least so many output tokens, for a reply whose final count never came."""
        return msgspec.structs.replace(self, output_tokens=max(self.output_tokens, tokens))

    def to_result(self) -> dict[str, Any]:
        """The object that result frames show: every key there, whatever the API said."""
        return {
            **msgspec.to_builtins(self),
            "service_tier": self.service_tier or "standard",
            "inference_geo": self.inference_geo or "",
            "iterations": [],
            "speed": self.speed or "standard",
            "fallback_credit": None,
        }


def _combine(old: Any, new: Any, number: Any) -> Any:
    values: list[Any] = []
    for name in old.__struct_fields__:
        a, b = getattr(old, name), getattr(new, name)
        if isinstance(a, msgspec.Struct):
            values.append(_combine(a, b, number))
        elif isinstance(a, int):
            values.append(number(a, b))
        else:
            values.append(b if b is not None else a)
    return type(old)(*values)


def read_usage(raw: Any) -> Usage:
    """Read the API's usage object; what is missing, null or misshapen counts as nothing."""
    if not isinstance(raw, dict):
        return Usage()
    usage: Usage = _read(Usage, raw)
    return usage


def _read(kind: Any, raw: dict[str, Any]) -> Any:
    values: list[Any] = []
    for name, default in zip(kind.__struct_fields__, kind.__struct_defaults__, strict=True):
        value = raw.get(name)
        if isinstance(default, msgspec.Struct):
            values.append(_read(type(default), value) if isinstance(value, dict) else default)
        elif isinstance(default, int):
            values.append(_count(value))
        else:
            values.append(value if isinstance(value, str) else None)
    return kind(*values)


def _count(value: Any) -> int:
    """A number of tokens; some gateways send it as a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _MOST:
        return 0
    return round(value)
