"""AWS event streams to events: the frames in which Bedrock sends a reply, without I/O."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from claude_wrapper.wire.sse import ServerEvent

from .cloud import library

__all__ = ["AwsStreamParser", "BrokenFrameError"]

_TYPES = {
    "throttlingException": "rate_limit_error",
    "validationException": "invalid_request_error",
    "modelTimeoutException": "timeout_error",
    "serviceUnavailableException": "overloaded_error",
}


class BrokenFrameError(ValueError):
    """A frame whose checksum is wrong, or whose content is none of a reply."""


class _Chunk(msgspec.Struct):
    bytes: str = ""
    message: str = ""


class AwsStreamParser:
    """Takes a stream in chunks of any size and gives out the events that are complete."""

    def __init__(self) -> None:
        self._stream = library("botocore.eventstream", "bedrock")
        self._buffer = self._stream.EventStreamBuffer()

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take bytes; return the events that they complete."""
        self._buffer.add_data(chunk)
        try:
            return [_event(message.headers, message.payload) for message in self._buffer]
        except (self._stream.ParserError, msgspec.DecodeError, ValueError) as error:
            raise BrokenFrameError(f"a frame of the stream is broken ({type(error).__name__})") from error


def _event(headers: dict[str, Any], payload: bytes) -> ServerEvent:
    kind = headers.get(":event-type") or headers.get(":exception-type") or headers.get(":error-code") or ""
    if headers.get(":message-type", "event") == "event":
        return ServerEvent("message", base64.b64decode(msgspec.json.decode(payload, type=_Chunk).bytes))
    try:
        message = msgspec.json.decode(payload, type=_Chunk).message
    except msgspec.DecodeError:
        message = ""
    message = message or str(headers.get(":error-message") or kind)
    error = {"type": _TYPES.get(str(kind), "api_error"), "message": message}
    return ServerEvent("error", msgspec.json.encode({"type": "error", "error": error}))
