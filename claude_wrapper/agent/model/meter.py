"""What the session has cost so far, in all and since the last result."""

from __future__ import annotations

import time
from typing import Any, get_args

from msgspec.structs import replace

from claude_wrapper.agent.api.catalog import Model, find_model
from claude_wrapper.agent.api.cost import Ledger, ModelTotal
from claude_wrapper.agent.api.fold import Reply
from claude_wrapper.agent.api.naming import ProviderName
from claude_wrapper.agent.api.usage import CacheCreation, OutputDetails, ServerToolUse, Usage
from claude_wrapper.store.history import Conversation

__all__ = ["Meter"]


class Meter:
    """Keeps the running totals. A resumed session goes on with those of the one before."""

    def __init__(self) -> None:
        self._all = Ledger()
        self._recent = Ledger()
        self._before = 0.0
        self.api_ms = 0.0
        self.started = time.monotonic()

    def restart(self) -> None:
        """Count from zero."""
        self._all, self._recent = Ledger(), Ledger()
        self._before = 0.0
        self.api_ms = 0.0
        self.started = time.monotonic()

    @property
    def total_cost_usd(self) -> float:
        """Dollars so far."""
        return self._all.total_cost_usd

    @property
    def spent_here_usd(self) -> float:
        """Those of them that this process has spent: what a budget is about."""
        return self._all.total_cost_usd - self._before

    @property
    def wall_ms(self) -> float:
        """How long the process has been at work."""
        return (time.monotonic() - self.started) * 1000

    def enter(self, reply: Reply, model: Model) -> None:
        """Count a reply, whole or broken off, unless that was done before.

        Its id does not tell: some servers give the same one to all.
        """
        if reply.charged:
            return
        reply.charged = True
        self._all.enter(reply, model)
        self._recent.enter(reply, model)

    def model_usage(self) -> dict[str, dict[str, Any]]:
        """Totals by model, as results report them."""
        return self._all.to_wire()

    def take_recent(self) -> dict[str, dict[str, Any]]:
        """Totals by model since this was last asked."""
        recent, self._recent = self._recent, Ledger()
        return recent.to_wire()

    def go_on(self, conversation: Conversation) -> None:
        """Start from the totals of a stored session."""
        self.api_ms = conversation.total_api_duration
        self._all.total_cost_usd = self._before = conversation.total_cost_usd
        for name, total in conversation.model_usage.items():
            self._all.models[name] = ModelTotal(
                _named(name, total), _usage(total), float(total.get("costUSD") or 0.0)
            )


def _named(name: str, total: dict[str, Any]) -> Model:
    provider = total.get("provider")
    model = find_model(name)
    return replace(model, provider=provider) if provider in get_args(ProviderName) else model


def _usage(total: dict[str, Any]) -> Usage:
    def number(key: str) -> int:
        value = total.get(key)
        return value if isinstance(value, int) else 0

    return Usage(
        input_tokens=number("inputTokens"),
        output_tokens=number("outputTokens"),
        cache_read_input_tokens=number("cacheReadInputTokens"),
        cache_creation_input_tokens=number("cacheCreationInputTokens"),
        output_tokens_details=OutputDetails(number("thinkingTokens")),
        server_tool_use=ServerToolUse(number("webSearchRequests")),
        cache_creation=CacheCreation(
            number("cacheCreationEphemeral1hInputTokens"), number("cacheCreationEphemeral5mInputTokens")
        ),
    )
