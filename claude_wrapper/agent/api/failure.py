"""What can go wrong with one try of a request, and what kind of failure it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

__all__ = ["Cause", "FailedTryError", "Failure", "failure_of_error_event", "failure_of_response"]

Cause = Literal[
    "status",  # an HTTP status that is no success
    "error_event",  # an error event in the stream
    "refused",  # nothing listens there
    "unreachable",  # no route, or no such host
    "tls",  # the certificate is not trusted, or no TLS is spoken
    "dropped",  # the connection broke before the reply began
    "timeout",  # the reply did not begin in time
    "cut",  # the connection broke in the middle of the reply
    "stalled",  # nothing came for too long in the middle of the reply
    "unfinished",  # the stream ended properly, the reply did not
    "no_reply",  # a success without a reply: an empty body, a web page
    "malformed",  # the stream holds what is no event
]

_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_KIND_OF_STATUS = {
    401: "authentication_failed",
    403: "authentication_failed",
    404: "model_not_found",
    413: "invalid_request",
    429: "rate_limit",
}
_TOO_LONG = re.compile(r"prompt is too long(?::\s*(\d+) tokens? > (\d+))?", re.IGNORECASE)
_OVERFLOW = re.compile(r"exceed context limit: (\d+) \+ (\d+) > (\d+)")
_CREDIT = re.compile(r"credit balance is too low", re.IGNORECASE)
_CONNECTION: frozenset[Cause] = frozenset(
    {"refused", "unreachable", "tls", "dropped", "timeout", "cut", "stalled", "unfinished"}
)
_IMAGE = re.compile(r"image exceeds|image.*too large", re.IGNORECASE)
_LONGEST_TEXT = 2000


class Failure(msgspec.Struct, frozen=True):
    """One try that failed, told apart as far as deciding about the next one asks for."""

    cause: Cause
    message: str = ""
    status: int | None = None
    error_type: str | None = None
    request_id: str | None = None
    retry_after: float | None = None
    should_retry: bool | None = None

    @property
    def retry_kind(self) -> str:
        """The `error` of `api_retry` frames."""
        if self.status is None:
            return "unknown"
        if self.status == 529 or self.error_type == "overloaded_error":
            return "overloaded"
        if self.status in {408, 409} or self.status >= 500:
            return "server_error"
        return _KIND_OF_STATUS.get(self.status, "unknown")

    @property
    def final_kind(self) -> str:
        """The `error` of the message that ends the turn."""
        if self.is_too_long or self.is_image_too_large:
            return "invalid_request"
        if self.is_out_of_credit:
            return "billing_error"
        if self.status is None:
            return "unknown" if self.cause in {"no_reply", "malformed"} else "server_error"
        if self.status >= 500:
            return "server_error"
        return _KIND_OF_STATUS.get(self.status, "unknown")

    @property
    def api_error(self) -> str | None:
        """The `api_error` that frames add for failures of the connection."""
        if self.cause == "tls":
            return "tls_untrusted_ca"
        return "connection_failed" if self.cause in _CONNECTION else None

    @property
    def is_too_long(self) -> bool:
        """Whether the request is over the context window, so that compacting would help."""
        return self.status == 400 and bool(_TOO_LONG.search(self.message) or _OVERFLOW.search(self.message))

    @property
    def is_image_too_large(self) -> bool:
        """Whether a picture or attachment is what made the request too large."""
        return self.status == 413 or (self.status == 400 and bool(_IMAGE.search(self.message)))

    @property
    def names_model(self) -> bool:
        """Whether the complaint is about the model, and not about the address."""
        return "model" in self.message.lower()

    @property
    def is_out_of_credit(self) -> bool:
        """Whether the account has nothing left to pay with."""
        return bool(_CREDIT.search(self.message))

    @property
    def token_limit(self) -> tuple[int, int] | None:
        """Tokens of the prompt and the limit they are over, where the API named both."""
        found = _OVERFLOW.search(self.message)
        if found:
            return int(found[1]), int(found[3])
        found = _TOO_LONG.search(self.message)
        return (int(found[1]), int(found[2])) if found and found[1] else None


class FailedTryError(Exception):
    """One try failed; `failure` says how. Never leaves the client."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


class _ErrorDetail(msgspec.Struct):
    type: str | None = None
    message: str | None = None


class _ErrorReply(msgspec.Struct):
    """The body of a failed response."""

    error: _ErrorDetail
    request_id: str | None = None


def failure_of_response(
    status: int, reason: str, headers: Mapping[str, str], body: bytes, *, now: float = 0.0
) -> Failure:
    """Read a response that is no success. `headers` have lower-case names, `now` is the Unix time.

    A body that is not the API's JSON, such as the page of a proxy, is not shown: the reason of
    the status says as much.
    """
    try:
        reply = msgspec.json.decode(body, type=_ErrorReply)
    except (msgspec.DecodeError, RecursionError):
        reply = _ErrorReply(_ErrorDetail())
    should_retry = headers.get("x-should-retry")
    return Failure(
        cause="status",
        message=(reply.error.message or reason or "no reason given")[:_LONGEST_TEXT],
        status=status,
        error_type=reply.error.type,
        request_id=reply.request_id or headers.get("request-id"),
        retry_after=_seconds_to_wait(headers, now),
        should_retry=None if should_retry is None else should_retry == "true",
    )


def _seconds_to_wait(headers: Mapping[str, str], now: float) -> float | None:
    """How long the server asks to wait: in milliseconds, in seconds, or until a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            seconds = _seconds_until(value, now)
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _seconds_until(date: str, now: float) -> float:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  # start-up: hardly any server sends a date

    try:
        return max(parsedate_to_datetime(date).timestamp() - now, 0.0)
    except ValueError:
        return float("inf")


def failure_of_error_event(error_type: str, message: str, request_id: str | None) -> Failure:
    """Read an error event of a stream; its status is the one that its type stands for."""
    return Failure(
        cause="error_event",
        message=message[:_LONGEST_TEXT],
        status=_STATUS_OF_TYPE.get(error_type, 500),
        error_type=error_type,
        request_id=request_id,
    )
