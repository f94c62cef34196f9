"""What a refused request can be sent without: the pure reading of what the API cannot do."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from msgspec.structs import replace

from .failure import Failure
from .request import ModelRequest
from .tuning import Tuning

__all__ = ["Change", "adapt", "apply_changes"]

Change = str
"""The name of a change, for remembering it: `effort`, `display`, `adaptive`, `thinking`, `cache`, `beta:NAME`."""

_ROOM = 1000
_SMALLEST_OUTPUT = 1024
_BUDGET_SHARE = 2
# A complaint that begins with the path of a message is about the history, not about what is asked.
_ABOUT_HISTORY = re.compile(r"^(messages|tools|system)[.\[]")


def adapt(request: ModelRequest, failure: Failure) -> tuple[ModelRequest, Change | None] | None:
    """The request without what the API refused, and the name of the change if it should last.

    None if the refusal is about something else, or if nothing is left to give up.
    """
    if failure.status not in {400, 422} or _ABOUT_HISTORY.search(failure.message):
        return None
    shorter = _with_less_output(request, failure)
    if shorter is not None:
        return shorter, None
    message = failure.message.lower()
    for beta in request.tuning.betas:
        if beta in message:
            return apply_changes(request, {f"beta:{beta}"}), f"beta:{beta}"
    for change, thing in _CHANGES.items():
        if thing.is_asked(request) and any(word in message for word in thing.words):
            return apply_changes(request, {change}), change
    return None


def apply_changes(request: ModelRequest, changes: AbstractSet[Change]) -> ModelRequest:
    """The request with changes that a refusal has taught."""
    for change in sorted(changes):
        name, _, beta = change.partition(":")
        if name == "beta":
            betas = tuple(kept for kept in request.tuning.betas if kept != beta)
            request = replace(request, tuning=replace(request.tuning, betas=betas))
        else:
            thing = _CHANGES[name]
            request = thing.left_out(request) if thing.is_asked(request) else request
    return request


def _with_less_output(request: ModelRequest, failure: Failure) -> ModelRequest | None:
    """Ask for no more output than fits beside the prompt."""
    limit = failure.token_limit
    if limit is None:
        return None
    room = limit[1] - limit[0] - _ROOM
    if not _SMALLEST_OUTPUT <= room < request.tuning.max_tokens:
        return None
    thinking = request.tuning.thinking
    if thinking and "budget_tokens" in thinking:
        budget = min(thinking["budget_tokens"], room // _BUDGET_SHARE)
        thinking = (
            {**thinking, "budget_tokens": budget} if budget >= _SMALLEST_OUTPUT else {"type": "disabled"}
        )
    return replace(request, tuning=replace(request.tuning, max_tokens=room, thinking=thinking))


def _tuned(request: ModelRequest, tuning: Tuning) -> ModelRequest:
    return replace(request, tuning=tuning)


def _without_display(request: ModelRequest) -> ModelRequest:
    thinking = {key: value for key, value in (request.tuning.thinking or {}).items() if key != "display"}
    betas = tuple(beta for beta in request.tuning.betas if not beta.startswith("thinking-display"))
    return _tuned(request, replace(request.tuning, thinking=thinking, betas=betas))


def _with_budget(request: ModelRequest) -> ModelRequest:
    thinking = {"type": "enabled", "budget_tokens": request.tuning.max_tokens - 1}
    return _tuned(request, replace(request.tuning, thinking=thinking))


def _thinks(request: ModelRequest, key: str, *values: str) -> bool:
    value = (request.tuning.thinking or {}).get(key)
    return value is not None and (not values or value in values)


class _GivenUp(NamedTuple):
    """Something that a request can do without, and the words by which its refusal is known."""

    words: tuple[str, ...]
    is_asked: Callable[[ModelRequest], bool]
    left_out: Callable[[ModelRequest], ModelRequest]


_CHANGES: dict[str, _GivenUp] = {
    "effort": _GivenUp(
        ("effort", "output_config"),
        lambda request: request.tuning.output_config is not None,
        lambda request: _tuned(request, replace(request.tuning, effort=None, task_budget=None)),
    ),
    "display": _GivenUp(
        ("display",),
        lambda request: _thinks(request, "display"),
        _without_display,
    ),
    "adaptive": _GivenUp(
        ("adaptive", "thinking.type", "budget_tokens"),
        lambda request: _thinks(request, "type", "adaptive"),
        _with_budget,
    ),
    "thinking": _GivenUp(
        ("thinking",),
        lambda request: _thinks(request, "type"),
        lambda request: _tuned(request, replace(request.tuning, thinking=None)),
    ),
    "cache": _GivenUp(
        ("cache_control", "ttl"),
        lambda request: request.cache is not None,
        lambda request: replace(request, cache=None),
    ),
}
