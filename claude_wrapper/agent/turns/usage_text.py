"""What the session has used, as text for people."""

from __future__ import annotations

from typing import Any

from claude_wrapper.agent.context.usage import measure
from claude_wrapper.agent.model.meter import Meter
from claude_wrapper.agent.turns.parts import Parts

__all__ = ["context_shares", "context_table", "cost_lines"]

_THOUSAND = 1000


def cost_lines(meter: Meter) -> list[str]:
    """Money, time and tokens."""
    lines = [
        f"Estimated cost:  ${meter.total_cost_usd:.4f}",
        f"Time in the API: {meter.api_ms / 1000:.1f}s",
        f"Time in all:     {meter.wall_ms / 1000:.1f}s",
    ]
    for name, used in meter.model_usage().items():
        lines.append(
            f"{name}: {used['inputTokens']} input, {used['outputTokens']} output, "
            f"{used['cacheReadInputTokens']} cache read, {used['cacheCreationInputTokens']} cache write "
            f"(${used['costUSD']:.4f})"
        )
    return lines


def context_shares(parts: Parts) -> dict[str, Any]:
    """How full the model's window is, and with what, as programs are told."""
    model = parts.brief.model
    shares = measure(parts.brief.system, parts.toolbox.definitions(), parts.session.history.messages)
    window = model.context_window
    used = [("System prompt", shares.system), ("System tools", shares.tools), ("Messages", shares.messages)]
    categories = [{"name": name, "tokens": tokens, "kind": "used"} for name, tokens in used if tokens]
    free = max(window - shares.total, 0)
    return {
        "model": model.name,
        "total_tokens": shares.total,
        "raw_max_tokens": window,
        "percentage": round(100 * shares.total / window) if window else 0,
        "categories": [*categories, {"name": "Free space", "tokens": free, "kind": "free"}],
    }


def context_table(parts: Parts) -> str:
    """How full the model's window is, and with what."""
    found = context_shares(parts)
    window = found["raw_max_tokens"]
    rows = [(row["name"], row["tokens"]) for row in found["categories"]]
    lines = [
        "## Context usage",
        "",
        f"**Model:** {found['model']}  ",
        f"**Tokens:** {_short(found['total_tokens'])} of {_short(window)} (estimated)",
        "",
        "| What | Tokens | Share |",
        "|---|---|---|",
    ]
    lines += [
        f"| {name} | {_short(tokens)} | {100 * tokens / window if window else 0:.1f}% |"
        for name, tokens in rows
    ]
    return "\n".join(lines)


def _short(tokens: int) -> str:
    return str(tokens) if tokens < _THOUSAND else f"{tokens / _THOUSAND:.1f}k"
