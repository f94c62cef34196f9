"""How a model is asked to think: user's wishes and a model's abilities made into request fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from .catalog import LONG_WINDOW_BETA, Model
from .switches import is_on

__all__ = ["Thinking", "Tuning", "Wishes", "tune"]

Thinking = Literal["adaptive", "enabled", "disabled"]

_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_SMALLEST_BUDGET = 1024
_NUMBER = re.compile(r"\s*[-+]?\d{1,12}(?:\.\d+)?(?:[eE]\d)?")
_DISPLAY = "updates"
"""Without being asked for, newer models keep the text of their thinking to themselves."""


class Wishes(msgspec.Struct, frozen=True):
    """What the user asked for; None leaves it to the model's own default.

    `thinking` of `enabled` takes `thinking_tokens` as its budget. `display` says whether the
    text of the thinking is shown (`summarized`) or not (`omitted`). `interleaved` lets models
    that do so only on request think between tool calls. `task_budget` is the number of tokens
    that the model is told the whole task may take. `silent` leaves it to the model to notice that no
    thinking is wanted. `unasked` asks no model for any thought, not even one that cannot do without.
    Without `experiments` nothing is asked for that is still one of the API's. Models that decide by
    themselves how long they think are given a budget instead if they are not to be `adaptive` and can
    do without.
    """

    thinking: Thinking | None = None
    thinking_tokens: int | None = None
    display: str | None = None
    effort: str | None = None
    max_output_tokens: int | None = None
    task_budget: int | None = None
    interleaved: bool = True
    silent: bool = False
    unasked: bool = False
    experiments: bool = True
    adaptive: bool = True

    def with_environment(self, environment: Mapping[str, str]) -> Wishes:
        """These wishes with those of the environment: some of it goes before, some behind."""
        budget = _tokens(environment.get("MAX_THINKING_TOKENS", ""))
        thinking, tokens = self.thinking, self.thinking_tokens
        silent = is_on(environment, "CLAUDE_CODE_DISABLE_THINKING")
        if silent or (budget == 0 and thinking is None):
            thinking, tokens = "disabled", None
        elif budget and thinking is None and tokens is None:
            thinking, tokens = "enabled", budget
        return Wishes(
            thinking=thinking,
            thinking_tokens=tokens,
            display=self.display,
            effort=environment.get("CLAUDE_CODE_EFFORT_LEVEL", "").strip().lower() or self.effort,
            max_output_tokens=_number(environment, "CLAUDE_CODE_MAX_OUTPUT_TOKENS") or self.max_output_tokens,
            task_budget=self.task_budget,
            interleaved=self.interleaved and not is_on(environment, "DISABLE_INTERLEAVED_THINKING"),
            silent=silent,
            unasked=self.unasked,
            experiments=not is_on(environment, "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS"),
            adaptive=not is_on(environment, "CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING"),
        )


class Tuning(msgspec.Struct, frozen=True):
    """The request fields that follow, ready to be sent. `betas` are those that the fields need."""

    max_tokens: int
    thinking: dict[str, Any] | None = None
    effort: str | None = None
    task_budget: int | None = None
    betas: tuple[str, ...] = ()

    @property
    def output_config(self) -> dict[str, Any] | None:
        """The request's `output_config`."""
        config: dict[str, Any] = {}
        if self.effort:
            config["effort"] = self.effort
        if self.task_budget:
            config["task_budget"] = {"type": "tokens", "total": self.task_budget}
        return config or None


def tune(model: Model, wishes: Wishes | None = None) -> Tuning:
    """Ask a model for as much of the wishes as it can do."""
    wishes = wishes or Wishes()
    facts = model.facts
    max_tokens = min(wishes.max_output_tokens or facts.max_output, facts.max_output_limit)
    thinking = _thinking(model, wishes, max_tokens)
    effort = _effort(model, wishes.effort)
    task_budget = wishes.task_budget if wishes.experiments else None
    needed = {
        "interleaved-thinking-2025-05-14": wishes.interleaved and (thinking or {}).get("type") == "enabled",
        LONG_WINDOW_BETA: model.needs_long_window,
        "effort-2025-11-24": effort is not None,
        "task-budgets-2026-03-13": task_budget is not None,
        "thinking-display-updates-2026-08-18": (thinking or {}).get("display") == "updates",
    }
    return Tuning(
        max_tokens=max_tokens,
        thinking=thinking,
        effort=effort,
        task_budget=task_budget,
        betas=tuple(beta for beta, is_needed in needed.items() if is_needed),
    )


def _thinking(model: Model, wishes: Wishes, max_tokens: int) -> dict[str, Any] | None:
    facts = model.facts
    if facts.thinking == "none" or wishes.silent:
        return None
    declined = wishes.thinking == "disabled" or wishes.thinking_tokens == 0
    if declined and facts.thinking_off != "never":
        return {"type": "disabled"} if facts.thinking_off == "disabled" else None
    if wishes.unasked:
        return None
    display = wishes.display or (_DISPLAY if wishes.experiments else None)
    shown = {} if display is None else {"display": display}
    if facts.thinking == "adaptive" and (wishes.adaptive or not facts.takes_budget):
        return {"type": "adaptive", **shown}
    budget = min(max(wishes.thinking_tokens or max_tokens, _SMALLEST_BUDGET), max_tokens - 1)
    if budget < _SMALLEST_BUDGET:
        return {"type": "disabled"}
    return {"type": "enabled", "budget_tokens": budget, **shown}


def _effort(model: Model, wished: str | None) -> str | None:
    """The wished level or, where the model does not take it, the highest below it that it takes."""
    offered = model.facts.efforts
    if wished not in _EFFORTS or not offered:
        return model.facts.effort if offered else None
    below = [level for level in _EFFORTS[: _EFFORTS.index(wished) + 1] if level in offered]
    return below[-1] if below else None


def _tokens(text: str) -> int | None:
    """A number of tokens; what begins with none is none at all, which asks for no thinking."""
    if not text.strip():
        return None
    number = _NUMBER.match(text)
    return max(int(float(number[0])), 0) if number else 0


def _number(environment: Mapping[str, str], name: str) -> int | None:
    try:
        value = int(environment.get(name, ""))
    except ValueError:
        return None
    return value if value >= 0 else None
