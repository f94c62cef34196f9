"""The events of a streamed reply, typed."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = [
    "BlockDelta",
    "BlockStart",
    "BlockStop",
    "CitationsDelta",
    "Delta",
    "InputJsonDelta",
    "MalformedEventError",
    "MessageChange",
    "MessageDelta",
    "MessageStart",
    "MessageStop",
    "Ping",
    "SignatureDelta",
    "StreamError",
    "StreamEvent",
    "TextDelta",
    "ThinkingDelta",
    "UnknownEvent",
]


class MalformedEventError(ValueError):
    """The data of an event is no JSON, or the event makes no sense where it stands."""


class TextDelta(msgspec.Struct, tag_field="type", tag="text_delta", gc=False):
    """More text."""

    text: str


class ThinkingDelta(msgspec.Struct, tag_field="type", tag="thinking_delta", gc=False):
    """More thinking."""

    thinking: str


class SignatureDelta(msgspec.Struct, tag_field="type", tag="signature_delta", gc=False):
    """The signature that lets the thinking be sent back."""

    signature: str


class InputJsonDelta(msgspec.Struct, tag_field="type", tag="input_json_delta", gc=False):
    """More of the JSON text of a tool's input."""

    partial_json: str


class CitationsDelta(msgspec.Struct, tag_field="type", tag="citations_delta"):
    """A further source of a text."""

    citation: dict[str, Any]


Delta = TextDelta | InputJsonDelta | ThinkingDelta | SignatureDelta | CitationsDelta


class MessageStart(msgspec.Struct, tag_field="type", tag="message_start"):
    """The reply begins. `message` is the message as far as it is known, without content."""

    message: dict[str, Any]


class BlockStart(msgspec.Struct, tag_field="type", tag="content_block_start"):
    """A block begins. `content_block` is the block, empty where deltas will fill it."""

    index: int
    content_block: dict[str, Any]


class BlockDelta(msgspec.Struct, tag_field="type", tag="content_block_delta", gc=False):
    """More of a block."""

    index: int
    delta: Delta


class BlockStop(msgspec.Struct, tag_field="type", tag="content_block_stop", gc=False):
    """A block is complete."""

    index: int


class MessageChange(msgspec.Struct):
    """What a `message_delta` changes of the message."""

    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: dict[str, Any] | None = None
    container: dict[str, Any] | None = None


class MessageDelta(msgspec.Struct, tag_field="type", tag="message_delta"):
    """The reply is nearly complete: why it stopped, and its usage so far."""

    delta: MessageChange = msgspec.field(default_factory=MessageChange)
    usage: dict[str, Any] | None = None
    context_management: dict[str, Any] | None = None


class MessageStop(msgspec.Struct, tag_field="type", tag="message_stop", gc=False):
    """The reply is complete."""


class Ping(msgspec.Struct, tag_field="type", tag="ping", gc=False):
    """The server is still there."""


class ErrorBody(msgspec.Struct):
    type: str = "api_error"
    message: str = ""


class StreamError(msgspec.Struct, tag_field="type", tag="error"):
    """The server gave up in the middle of a reply."""

    error: ErrorBody = msgspec.field(default_factory=ErrorBody)
    request_id: str | None = None


class UnknownEvent(msgspec.Struct):
    """An event, or a delta, of a kind that this version does not know."""

    type: str = ""


StreamEvent = (
    BlockDelta
    | BlockStart
    | BlockStop
    | MessageStart
    | MessageDelta
    | MessageStop
    | Ping
    | StreamError
    | UnknownEvent
)
