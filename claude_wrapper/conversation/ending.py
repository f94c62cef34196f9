"""Why a conversation has ended, said as the error that its users get."""

from __future__ import annotations

from typing import Any

import msgspec

from claude_wrapper.errors import (
    ClaudeSDKError,
    CLIConnectionError,
    IncompleteTurnError,
    ProcessError,
    ResultError,
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
    failure: Exception | None
    """What made reading fail."""
    stopped: bool
    """Whether it was ended from here, because it had nothing left to do."""
    turn_is_open: bool


def why(end: Ending) -> Exception | None:
    """Return the error that says how it ended; None when all went well."""
    result = end.result
    if result is not None and result.get("is_error") and (end.code or end.stopped):
        return ResultError(_result_text(result), result, end.code, end.tail)
    if end.stopped:
        return None
    if end.code:
        return ProcessError(f"Command failed with exit code {end.code}", end.code, end.tail)
    if end.failure is not None:
        return end.failure if isinstance(end.failure, ClaudeSDKError) else _connection_error(end.failure)
    if end.turn_is_open:
        return IncompleteTurnError("The agent ended without a result", end.code, end.tail)
    return None


def _result_text(result: dict[str, Any]) -> str:
    errors = result.get("errors")
    text = (
        "; ".join(map(str, errors)) if errors else result.get("result") or result.get("subtype") or "unknown"
    )
    return f"Claude Code returned an error result: {text}"


def _connection_error(failure: Exception) -> CLIConnectionError:
    error = CLIConnectionError(f"The connection to the agent broke: {failure}")
    error.__cause__ = failure
    return error
