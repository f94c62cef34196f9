"""Whether and when a failed request is tried again: the pure policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from .failure import Failure
from .switches import is_on

__all__ = ["GiveUp", "Retry", "RetryPolicy", "RetryState", "Switch", "Unstreamed", "decide"]

_RETRIES = 10
_MOST_RETRIES = 15
_LONGEST_DELAY = 32.0
_LONGEST_PATIENT_DELAY = 300.0
_JITTER = 0.25
_OVERLOADS_TO_SWITCH = 3
_OVERLOADED_STREAMS = 3
_REFUSED_KEYS = 2


class RetryPolicy(msgspec.Struct, frozen=True):
    """How persistent to be.

    Each wait is twice the one before, up to half a minute. `longest_wait` is the longest wait that a server may ask for; one that asks for more gets no
    further request, since nobody sits through that. `patient` waits for an overloaded or
    rate-limited server as long as it takes. `unstreamed` allows asking for the reply in one
    piece after its stream has failed.
    """

    max_retries: int = _RETRIES
    first_delay: float = 0.5
    longest_wait: float = 60.0
    patient: bool = False
    unstreamed: bool = True

    @staticmethod
    def from_environment(environment: Mapping[str, str]) -> RetryPolicy:
        """Read CLAUDE_CODE_MAX_RETRIES and the switches that go with it."""
        try:
            retries = int(environment.get("CLAUDE_CODE_MAX_RETRIES", ""))
        except ValueError:
            retries = _RETRIES
        return RetryPolicy(
            max_retries=min(max(retries, 0), _MOST_RETRIES),
            patient=is_on(environment, "CLAUDE_CODE_RETRY_WATCHDOG"),
            unstreamed=not is_on(environment, "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK"),
        )


class RetryState(msgspec.Struct):
    """What has been tried for one request. `decide` keeps it up to date.

    `can_switch` says that another model could be asked instead, `block_begun` that the try which
    failed last had begun to give an answer.
    """

    retries: int = 0
    unfinished: int = 0
    overloads: int = 0
    refused_keys: int = 0
    streaming: bool = True
    can_switch: bool = False
    block_begun: bool = False


class Retry(msgspec.Struct, frozen=True):
    """Wait, then send the request again. `attempt` counts from 1, 0: the user is told nothing."""

    attempt: int
    delay: float


class Switch(msgspec.Struct, frozen=True):
    """Ask the next model."""

    trigger: Literal["overloaded", "server_error", "model_not_found"]


class Unstreamed(msgspec.Struct, frozen=True):
    """Ask at once for the whole reply in one piece; the user is told nothing."""


class GiveUp(msgspec.Struct, frozen=True):
    """Report the failure."""


def decide(
    failure: Failure, state: RetryState, policy: RetryPolicy, random: Callable[[], float]
) -> Retry | Switch | Unstreamed | GiveUp:
    """Decide what follows a failure. `random` gives numbers from 0 to 1.

    A stream that breaks is streamed again until the retries are used up; one that ends early as
    if that were its end is given one more chance; one in which the server reports an error, or
    that holds no reply at all, gets none, for something between here and the model may be unfit
    for streams. Then the reply is asked for in one piece. Where there is another model, it is
    asked as soon as this one is missing, out of order, or overloaded again and again.
    """
    switch = _switch(failure, state)
    if switch is not None:
        return switch
    if state.streaming and _is_overloaded_stream(failure, state):
        return Retry(0, _delay(state.overloads - 1, policy.first_delay, _LONGEST_DELAY, random))
    if state.streaming and _distrusts_stream(failure, state, policy):
        if not policy.unstreamed:
            return _again(failure, state, policy, random) if _is_worth_it(failure, state) else GiveUp()
        state.streaming = False
        return Unstreamed()
    if not _is_worth_it(failure, state):
        return GiveUp()
    return _again(failure, state, policy, random)


def _switch(failure: Failure, state: RetryState) -> Switch | None:
    """Whether it is time for another model; counts how often this one was overloaded."""
    if failure.retry_kind == "overloaded":
        state.overloads += 1
        if state.can_switch and state.overloads >= _OVERLOADS_TO_SWITCH:
            return Switch("overloaded")
    if not state.can_switch or failure.cause != "status" or failure.status is None:
        return None
    if failure.status == 404 and (failure.names_model or not state.streaming):
        return Switch("model_not_found")
    if failure.status >= 500 and failure.retry_kind != "overloaded":
        return Switch("server_error")
    return None


def _is_overloaded_stream(failure: Failure, state: RetryState) -> bool:
    """Whether a stream said that the server is overloaded, before it gave anything."""
    is_overload = failure.cause == "error_event" and failure.retry_kind == "overloaded"
    return is_overload and not state.block_begun and state.overloads < _OVERLOADED_STREAMS


def _distrusts_stream(failure: Failure, state: RetryState, policy: RetryPolicy) -> bool:
    if failure.cause in {"error_event", "no_reply", "malformed"}:
        return True
    if failure.cause == "unfinished":
        state.unfinished += 1
        return state.unfinished > 1 or not state.block_begun
    if failure.status == 404 and failure.should_retry is None:
        # A gateway may have the model, but no streams.
        return not failure.names_model
    return failure.cause in {"cut", "stalled"} and state.retries >= policy.max_retries


def _is_worth_it(failure: Failure, state: RetryState) -> bool:
    if failure.should_retry is not None:
        return failure.should_retry
    if failure.status is None:
        return failure.cause not in {"tls", "no_reply", "malformed"}
    if failure.status == 401:
        # A key that was refused three times stays refused, and the user should hear of it soon.
        state.refused_keys += 1
        return state.refused_keys <= _REFUSED_KEYS
    return failure.status in {408, 409, 429} or failure.status >= 500


def _again(
    failure: Failure, state: RetryState, policy: RetryPolicy, random: Callable[[], float]
) -> Retry | GiveUp:
    patient = policy.patient and failure.retry_kind in {"overloaded", "rate_limit"}
    if not patient and state.retries >= policy.max_retries:
        return GiveUp()
    wait = failure.retry_after
    if wait is not None and wait > policy.longest_wait and not patient:
        return GiveUp()
    if wait is None or wait <= 0:
        longest = _LONGEST_PATIENT_DELAY if patient else _LONGEST_DELAY
        delay = _delay(state.retries, policy.first_delay, longest, random)
    else:
        delay = wait * (1 + _JITTER * random())
    state.retries += 1
    return Retry(state.retries, delay)


def _delay(count: int, first: float, longest: float, random: Callable[[], float]) -> float:
    return min(first * 2.0 ** min(max(count, 0), 30), longest) * (1 + _JITTER * random())
