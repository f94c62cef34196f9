"""The one public error tree.

The names of the official SDK are the trunk, so that existing `except` clauses go on
working; the finer errors are branches of it. Every error says what went wrong and, where
a process was involved, how it ended and what it last wrote to stderr.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AbortedError",
    "AgentExitedError",
    "AgentStartError",
    "ApiError",
    "AuthenticationError",
    "BudgetExceededError",
    "CLIConnectionError",
    "CLIJSONDecodeError",
    "CLINotFoundError",
    "ClaudeSDKError",
    "ClientUseError",
    "ContextLengthError",
    "ControlError",
    "ControlTimeoutError",
    "FrameTooLargeError",
    "IdleTimeoutError",
    "IncompleteTurnError",
    "MaxTurnsError",
    "MessageParseError",
    "ModelNotFoundError",
    "NoProgressError",
    "OptionsError",
    "OverloadedError",
    "ProcessError",
    "RateLimitError",
    "ResultError",
    "RunTimeoutError",
    "SessionNotFoundError",
    "SessionStoreError",
    "StructuredOutputError",
]


class ClaudeSDKError(Exception):
    """Base of every error this library raises."""


class OptionsError(ClaudeSDKError, ValueError):
    """An option has a wrong type or value, or two options contradict each other."""


class SessionStoreError(ClaudeSDKError, RuntimeError):
    """A session could not be loaded from the session store; the cause is what the store raised."""


class CLIConnectionError(ClaudeSDKError):
    """The agent could not be reached: not started, not connected, or no longer there."""


class CLINotFoundError(CLIConnectionError):
    """No agent executable was found; the message lists every place that was searched."""

    def __init__(self, message: str = "Agent executable not found", cli_path: str | None = None) -> None:
        self.cli_path = cli_path
        super().__init__(f"{message}: {cli_path}" if cli_path else message)


class AgentStartError(CLIConnectionError):
    """An agent executable was found but could not be started."""


class ClientUseError(CLIConnectionError, RuntimeError):
    """A client was used where or how it cannot be: in another event loop, in a forked process, by two readers."""


class RunTimeoutError(ClaudeSDKError, TimeoutError):
    """The agent was stopped because it worked longer than the option `timeout` allows.

    What it did until then is in its session, which `session_id` names if the agent has told it.
    """

    def __init__(self, message: str, session_id: str | None = None) -> None:
        self.session_id = session_id
        super().__init__(message)


class IdleTimeoutError(RunTimeoutError):
    """The agent was stopped because it said nothing for longer than the option `idle_timeout` allows."""


class NoProgressError(ClaudeSDKError):
    """The agent was stopped because its calls of tools failed one after the other, by `max_consecutive_tool_errors`.

    What it did until then is in its session, which `session_id` names if the agent has told it.
    """

    def __init__(self, message: str, session_id: str | None = None) -> None:
        self.session_id = session_id
        super().__init__(message)


class ProcessError(ClaudeSDKError):
    """The agent process failed.

    `exit_code` is the process's return code (negative: the signal that ended it), `stderr`
    the last lines that it wrote there; either may be None when it is not known.
    """

    def __init__(self, message: str, exit_code: int | None = None, stderr: str | None = None) -> None:
        self.exit_code = exit_code
        self.stderr = stderr
        if exit_code is not None:
            message = f"{message} (exit code: {exit_code})"
        if stderr:
            message = f"{message}\nError output: {stderr}"
        super().__init__(message)


class AgentExitedError(ProcessError, CLIConnectionError):
    """The agent ended while something still waited for it."""


class IncompleteTurnError(ProcessError):
    """The agent's output ended in the middle of a turn, without a result."""


class ResultError(ProcessError):
    """The run ended in a result frame that reports an error.

    The fields repeat the result's: `subtype`, `errors`, `result`, `api_error_status`,
    `terminal_reason`, `session_id`; `data` is the whole frame.
    """

    def __init__(
        self,
        message: str,
        data: dict[str, Any] | None = None,
        exit_code: int | None = None,
        stderr: str | None = None,
    ) -> None:
        self.data: dict[str, Any] = data or {}
        self.subtype: str | None = self.data.get("subtype")
        self.errors: list[str] = self.data.get("errors") or []
        self.result: str | None = self.data.get("result")
        self.api_error_status: int | None = self.data.get("api_error_status")
        self.terminal_reason: str | None = self.data.get("terminal_reason")
        self.session_id: str | None = self.data.get("session_id")
        super().__init__(message, exit_code, stderr)


class AbortedError(ResultError):
    """The turn was interrupted."""


class MaxTurnsError(ResultError):
    """The agent needed more turns than the option `max_turns` allows."""


class BudgetExceededError(ResultError):
    """The agent cost more than the option `max_budget_usd` allows."""


class SessionNotFoundError(ResultError):
    """The session that was to be resumed does not exist here."""


class ApiError(ResultError):
    """The model's API failed or refused, finally; `api_error_status` is its HTTP status if it gave one."""


class AuthenticationError(ApiError):
    """The API takes no requests without a valid key or login."""


class RateLimitError(ApiError):
    """The API takes no more requests for now."""


class OverloadedError(ApiError):
    """The API is overloaded."""


class ContextLengthError(ApiError):
    """The conversation is longer than the model can read."""


class ModelNotFoundError(ApiError):
    """The API does not know the model, or does not offer it to this account."""


class ControlError(CLIConnectionError):
    """The other side answered a control request with an error.

    `subtype` is what was asked; `code` tells causes apart where the other side names one, such as
    `unsupported_request`.
    """

    def __init__(self, message: str, subtype: str | None = None, code: str | None = None) -> None:
        self.subtype = subtype
        self.code = code
        super().__init__(message)


class ControlTimeoutError(ControlError, TimeoutError):
    """A control request was not answered in time."""


class CLIJSONDecodeError(ClaudeSDKError):
    """A line from the agent is not a frame. `line` is its text, `original_error` the reason."""

    def __init__(self, line: str, original_error: Exception) -> None:
        self.line = line
        self.original_error = original_error
        super().__init__(f"Failed to decode JSON: {line[:100]}...")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.line, self.original_error)


class FrameTooLargeError(CLIJSONDecodeError):
    """A line is longer than `max_buffer_size` allows."""


class MessageParseError(ClaudeSDKError):
    """A frame is JSON but not a message. `data` is the frame as far as it was read."""

    def __init__(self, message: str, data: dict[str, Any] | None = None) -> None:
        self.data = data
        super().__init__(message)


class StructuredOutputError(ClaudeSDKError):
    """A result holds no data of the wanted type.

    `raw` is the text of what it holds, None where there is none; `error` is what the validation
    said, None where there was nothing to validate.
    """

    def __init__(self, message: str, raw: str | None = None, error: Exception | None = None) -> None:
        self.raw = raw
        self.error = error
        super().__init__(message)
