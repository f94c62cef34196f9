"""What replies cost: the price of a usage, and running totals by model."""

from __future__ import annotations

from typing import Any

import msgspec

from .catalog import Model, Price, load_catalog
from .fold import Reply
from .usage import Usage

__all__ = ["Ledger", "ModelTotal", "cost_of"]

_MILLION = 1_000_000


def cost_of(usage: Usage, model: Model) -> float:
    """The price in US dollars of one reply's usage, from the list prices of the catalog."""
    price = _price(usage, model)
    divided = usage.cache_creation
    one_hour = divided.ephemeral_1h_input_tokens
    # Where the API did not say how long the written tokens stay, they stay five minutes.
    five_minutes = max(usage.cache_creation_input_tokens - one_hour, divided.ephemeral_5m_input_tokens)
    tokens = (
        usage.input_tokens / _MILLION * price.input
        + usage.output_tokens / _MILLION * price.output
        + usage.cache_read_input_tokens / _MILLION * price.cache_read
        + (five_minutes / _MILLION * price.cache_write_5m + one_hour / _MILLION * price.cache_write_1h)
    )
    searches = usage.server_tool_use.web_search_requests * load_catalog().web_search_request
    return tokens * _factor(usage, model) + searches


def _factor(usage: Usage, model: Model) -> float:
    factor = load_catalog().geography_factors.get(usage.inference_geo or "", 1.0)
    return factor * model.facts.fast_factor if usage.speed == "fast" else factor


def _price(usage: Usage, model: Model) -> Price:
    small = model.facts.small_prompt
    if small is not None and usage.prompt_tokens <= small.up_to:
        return small.price
    return model.facts.price


class ModelTotal(msgspec.Struct):
    """What one model was used for and what that cost."""

    model: Model
    usage: Usage
    cost_usd: float = 0.0

    def to_wire(self) -> dict[str, Any]:
        """The model's entry in `modelUsage` of result frames."""
        usage = self.usage
        return {
            "inputTokens": usage.input_tokens,
            "outputTokens": usage.output_tokens,
            "cacheReadInputTokens": usage.cache_read_input_tokens,
            "cacheCreationInputTokens": usage.cache_creation_input_tokens,
            "webSearchRequests": usage.server_tool_use.web_search_requests,
            "costUSD": self.cost_usd,
            "contextWindow": self.model.context_window,
            "maxOutputTokens": self.model.facts.max_output,
            "thinkingTokens": usage.output_tokens_details.thinking_tokens,
            "cacheCreationEphemeral5mInputTokens": usage.cache_creation.ephemeral_5m_input_tokens,
            "cacheCreationEphemeral1hInputTokens": usage.cache_creation.ephemeral_1h_input_tokens,
            "canonicalModel": self.model.canonical,
            "provider": self.model.provider,
            "costBasis": self.model.cost_basis,
        }


class Ledger:
    """Running totals of what was spent, by model."""

    def __init__(self) -> None:
        self.total_cost_usd = 0.0
        self.models: dict[str, ModelTotal] = {}

    def enter(self, reply: Reply, model: Model) -> float:
        """Count a reply, complete or broken off; return its price."""
        if not reply.head:
            return 0.0
        return self.enter_usage(reply.spent, model)

    def enter_usage(self, usage: Usage, model: Model) -> float:
        """Count a usage that no reply stands for; return its price."""
        price = cost_of(usage, model)
        total = self.models.get(model.name)
        if total is None:
            total = self.models[model.name] = ModelTotal(model, Usage())
        total.model = model
        total.usage += usage
        total.cost_usd += price
        self.total_cost_usd += price
        return price

    def to_wire(self) -> dict[str, dict[str, Any]]:
        """The object `modelUsage` of result frames."""
        return {name: total.to_wire() for name, total in self.models.items()}
