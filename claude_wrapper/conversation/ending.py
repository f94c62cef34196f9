"""Why a conversation has ended, said as the error that its users get."""

from __future__ import annotations

from typing import Any

import msgspec

from claude_wrapper.errors import (
    AbortedError,
    ApiError,
    AuthenticationError,
    BudgetExceededError,
    ClaudeSDKError,
    CLIConnectionError,
    ContextLengthError,
    IncompleteTurnError,
    MaxTurnsError,
    ModelNotFoundError,
    OverloadedError,
    ProcessError,
    RateLimitError,
    ResultError,
    SessionNotFoundError,
)

__all__ = ["Ending", "why"]


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What is known when the agent's output is over."""

    code: int | None
    """The agent's exit code."""
    tail: str | None
    """The last lines of its stderr."""
    result: dict[str, Any] | None
    """Its last result, if nothing followed it."""
    fault: str | None = None
    """What the last reply named as its error, if it was one."""
    failure: Exception | None
    """What made reading fail."""
    stopped: bool
    """Whether it was ended from here, because it had nothing left to do."""
    turn_is_open: bool


def why(end: Ending) -> Exception | None:
    """Return the error that says how it ended; None when all went well."""
    result = end.result
    if result is not None and result.get("is_error") and (end.code or end.stopped):
        kind = _kind(result, end.fault)
        return kind(_result_text(result), result, end.code, end.tail)
    if end.stopped:
        return None
    if end.code:
        return ProcessError(f"Command failed with exit code {end.code}", end.code, end.tail)
    if end.failure is not None:
        return end.failure if isinstance(end.failure, ClaudeSDKError) else _connection_error(end.failure)
    if end.turn_is_open:
        return IncompleteTurnError("The agent ended without a result", end.code, end.tail)
    return None


_BY_SUBTYPE: dict[Any, type[ResultError]] = {
    "error_max_turns": MaxTurnsError,
    "error_max_budget_usd": BudgetExceededError,
}
_BY_STATUS: dict[Any, type[ResultError]] = {
    401: AuthenticationError,
    403: AuthenticationError,
    429: RateLimitError,
    529: OverloadedError,
}
_BY_FAULT: dict[Any, type[ResultError]] = {
    "authentication_failed": AuthenticationError,
    "rate_limit": RateLimitError,
    "overloaded": OverloadedError,
    "model_not_found": ModelNotFoundError,
}
_NO_SESSION = "No conversation found with session ID"


def _kind(result: dict[str, Any], fault: str | None) -> type[ResultError]:
    reason = str(result.get("terminal_reason"))
    status = result.get("api_error_status")
    if reason == "prompt_too_long":
        return ContextLengthError
    if reason == "api_error" or status is not None:
        by_status = _BY_STATUS.get(status) if isinstance(status, int) else None
        return by_status or _BY_FAULT.get(fault) or ApiError
    if reason.startswith("aborted"):
        return AbortedError
    if "".join(_errors(result)[:1]).startswith(_NO_SESSION):
        return SessionNotFoundError
    return _BY_SUBTYPE.get(str(result.get("subtype")), ResultError)


def _errors(result: dict[str, Any]) -> list[str]:
    """Return what a result says went wrong, whatever shape an agent has given that."""
    errors = result.get("errors") or []
    return [str(error) for error in (errors if isinstance(errors, list) else [errors])]


def _result_text(result: dict[str, Any]) -> str:
    errors = _errors(result)
    text = "; ".join(errors) if errors else result.get("result") or result.get("subtype") or "unknown"
    return f"Claude Code returned an error result: {text}"


def _connection_error(failure: Exception) -> CLIConnectionError:
    error = CLIConnectionError(f"The connection to the agent broke: {failure}")
    error.__cause__ = failure
    return error
