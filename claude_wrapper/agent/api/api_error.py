"""The error that a request ends in, and what the user is told by it."""

from __future__ import annotations

from claude_wrapper.errors import ClaudeSDKError
from claude_wrapper.wire.codec import encode

from .failure import Cause, Failure
from .fold import Reply

__all__ = ["ApiError", "ReplyCutError", "endpoint_error", "error_of", "not_logged_in"]

_TOO_LARGE = 413
_THINKING = frozenset({"thinking", "redacted_thinking"})
_CONNECTION_TEXTS: dict[Cause, str] = {
    "refused": "Connection refused: nothing answers at {host}",
    "unreachable": "{host} cannot be reached: check the network and the name of the host",
    "dropped": "Connection dropped by {host}",
    "timeout": "No answer from {host} in time",
    "tls": "No trusted connection to {host}: {message}",
    "cut": "Connection lost mid-response",
    "stalled": "The response stopped arriving",
}
_CUT_TEXTS: dict[Cause, str] = {
    "cut": "Connection lost mid-response.",
    "unfinished": "Connection lost mid-response.",
    "stalled": "The response stopped arriving.",
}


class ApiError(ClaudeSDKError):
    """The API gave no reply, and trying again will not help or has not helped.

    `kind` is the `error` of the message that ends the turn (`rate_limit`, `server_error`, …),
    `text` what the user is told; `status`, `error_type`, `api_error` and `request_id` are None
    where there is none. `failure` has the details. No credential is in any of them.
    """

    def __init__(self, failure: Failure, text: str, kind: str | None = None) -> None:
        self.failure = failure
        self.text = text
        self.status = failure.status
        self.error_type = failure.error_type
        self.kind = kind or failure.final_kind
        self.api_error = failure.api_error
        self.request_id = failure.request_id
        self.message = failure.message
        super().__init__(text)

    @property
    def is_over_limit(self) -> bool:
        """Whether the request was too long, so that a shorter conversation would help."""
        return self.failure.is_too_long or self.status == _TOO_LARGE

    @property
    def details(self) -> str | None:
        """What the API said of a request that is too large, for hooks; of other failures the text says enough."""
        if not self.failure.is_too_long and self.status != _TOO_LARGE:
            return None
        error = {"type": self.error_type, "message": self.message}
        said = f"{self.status} {encode({'type': 'error', 'error': error}).decode()}"
        return f"{self.error_type}: {said}" if self.status == _TOO_LARGE else said

    @property
    def terminal_reason(self) -> str:
        """The `terminal_reason` of the result that the error ends a turn with."""
        if self.failure.is_too_long:
            return "prompt_too_long"
        return "image_error" if self.failure.is_image_too_large else "api_error"


class ReplyCutError(ApiError):
    """The reply broke off after some of its blocks were finished and given out.

    It is not asked for again, since that would say those blocks twice. `reply` is what came:
    the caller keeps its finished blocks and goes on from there, unless it `is_final`: the server
    said that it would not answer. `max_retries` is how often one may ask again.
    """

    def __init__(self, failure: Failure, reply: Reply, max_retries: int = 0) -> None:
        self.is_final = failure.cause == "error_event" and (failure.status or 500) < 500
        what = _CUT_TEXTS.get(failure.cause, "Server error mid-response.")
        text = f"API Error: {what} The response above may be incomplete."
        if self.is_final:
            super().__init__(failure, f"API Error: {failure.message}", "unknown")
        else:
            super().__init__(failure, text, "server_error")
            self.error_type = None
        # The response as such was a success.
        self.status = None
        self.reply = reply
        self.max_retries = max_retries

    @property
    def says_nothing(self) -> bool:
        """Whether the model had only begun to think."""
        kinds = {block.type for block in (*self.reply.blocks, *self.reply.open_blocks)}
        return kinds <= _THINKING


def error_of(failure: Failure, *, host: str, model: str, uses_key: bool) -> ApiError:
    """The error that ends the tries, with its text."""
    return ApiError(failure, _text(failure, host, model, uses_key))


def _text(failure: Failure, host: str, model: str, uses_key: bool) -> str:
    status, message = failure.status, failure.message
    if failure.is_too_long:
        limit = failure.token_limit
        return f"Prompt is too long · {limit[0]} tokens, limit {limit[1]}" if limit else "Prompt is too long"
    if failure.is_image_too_large:
        return "Request too large · an image or attachment is over the limit of the API"
    if failure.is_out_of_credit:
        return "Credit balance is too low"
    if failure.cause in _CONNECTION_TEXTS:
        return "API Error: " + _CONNECTION_TEXTS[failure.cause].format(host=host, message=message)
    if status is None:
        return f"API Error: No usable response came from {host}: {message}"
    return _status_text(status, message, host, model, uses_key=uses_key)


def _status_text(status: int, message: str, host: str, model: str, *, uses_key: bool) -> str:
    if status == 401 and uses_key:
        return "Invalid API key · Check ANTHROPIC_API_KEY"
    if status in {401, 403}:
        return f"Failed to authenticate. API Error: {status} {message}"
    if status == 404:
        return (
            f"The model {model} was not found: it does not exist, or this account may not use it ({message})"
        )
    if status == 429:
        return f"API Error: The server takes no more requests for now (429): {message}"
    if status >= 500:
        return f"API Error: {status} {message}. The failure is on the side of the server ({host})."
    return f"API Error: {status} {message}"


def not_logged_in() -> ApiError:
    """The error of a request that nothing would authenticate."""
    failure = Failure(cause="no_reply", message="no credentials")
    return ApiError(failure, "Not logged in · Please run /login", "authentication_failed")


def endpoint_error(message: str) -> ApiError:
    """The error of a request that cannot be sent as the environment describes it."""
    return ApiError(Failure(cause="no_reply", message=message), f"API Error: {message}")
