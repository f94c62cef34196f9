"""Whether and when a failed request is tried again: the pure policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from .failure import Failure

__all__ = ["GiveUp", "Retry", "RetryPolicy", "RetryState", "Unstreamed", "decide"]

_RETRIES = 10
_MOST_RETRIES = 15
_LONGEST_DELAY = 32.0
_LONGEST_PATIENT_DELAY = 300.0
_JITTER = 0.25


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
            patient=_is_on(environment.get("CLAUDE_CODE_RETRY_WATCHDOG")),
            unstreamed=not _is_on(environment.get("CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK")),
        )


def _is_on(value: str | None) -> bool:
    return (value or "").strip().lower() in {"1", "true", "yes", "on"}


class RetryState(msgspec.Struct):
    """What has been tried for one request. `decide` keeps it up to date."""

    retries: int = 0
    unfinished: int = 0
    streaming: bool = True


class Retry(msgspec.Struct, frozen=True):
    """Wait, then send the request again. `attempt` counts from 1."""

    attempt: int
    delay: float


class Unstreamed(msgspec.Struct, frozen=True):
    """Ask at once for the whole reply in one piece; the user is told nothing."""


class GiveUp(msgspec.Struct, frozen=True):
    """Report the failure."""


def decide(
    failure: Failure, state: RetryState, policy: RetryPolicy, random: Callable[[], float]
) -> Retry | Unstreamed | GiveUp:
    """Decide what follows a failure. `random` gives numbers from 0 to 1.

    A stream that breaks is streamed again until the retries are used up; one that ends early as
    if that were its end is given one more chance; one in which the server reports an error, or
    that holds no reply at all, gets none, for something between here and the model may be unfit
    for streams. Then the reply is asked for in one piece.
    """
    if state.streaming and _distrusts_stream(failure, state, policy):
        if not policy.unstreamed:
            return _again(failure, state, policy, random) if _is_worth_it(failure) else GiveUp()
        state.streaming = False
        return Unstreamed()
    if not _is_worth_it(failure):
        return GiveUp()
    return _again(failure, state, policy, random)


def _distrusts_stream(failure: Failure, state: RetryState, policy: RetryPolicy) -> bool:
    if failure.cause in {"error_event", "no_reply", "malformed"}:
        return True
    if failure.cause == "unfinished":
        state.unfinished += 1
        return state.unfinished > 1
    return failure.cause in {"cut", "stalled"} and state.retries >= policy.max_retries


def _is_worth_it(failure: Failure) -> bool:
    if failure.should_retry is not None:
        return failure.should_retry
    if failure.status is None:
        return failure.cause not in {"tls", "no_reply", "malformed"}
    return failure.status in {401, 408, 409, 429} or failure.status >= 500


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
        wait = min(policy.first_delay * 2.0 ** min(state.retries, 30), longest)
    state.retries += 1
    return Retry(state.retries, wait * (1 + _JITTER * random()))
