"""What a reply gives out while it comes: the items of a reply's stream."""

from __future__ import annotations

import msgspec

from .catalog import Model
from .events import BlockDelta, InputJsonDelta, StreamEvent, TextDelta, ThinkingDelta
from .fold import Block, Reply

__all__ = ["BlockDone", "ModelSwitch", "RawEvent", "ReplyAbandoned", "ReplyDone", "RetryNotice", "StreamItem"]


class RawEvent(msgspec.Struct, frozen=True, gc=False):
    """An event of the stream: decoded, and as the JSON that came, to be passed on unread."""

    event: StreamEvent
    data: msgspec.Raw

    @property
    def type(self) -> str:
        """The event's type, such as `content_block_delta`."""
        tag = type(self.event).__struct_config__.tag
        return getattr(self.event, "type", "") if tag is None else str(tag)

    @property
    def delta_type(self) -> str | None:
        """The type of a `content_block_delta`, such as `text_delta`."""
        if not isinstance(self.event, BlockDelta):
            return None
        return str(type(self.event.delta).__struct_config__.tag)

    @property
    def text(self) -> str:
        """The text that a `content_block_delta` adds: of a text, of thinking, of a tool's input."""
        delta = self.event.delta if isinstance(self.event, BlockDelta) else None
        if isinstance(delta, TextDelta):
            return delta.text
        if isinstance(delta, ThinkingDelta):
            return delta.thinking
        return delta.partial_json if isinstance(delta, InputJsonDelta) else ""


class BlockDone(msgspec.Struct, frozen=True):
    """A block is finished. Comes just before the RawEvent of its `content_block_stop`."""

    block: Block


class ReplyAbandoned(msgspec.Struct, frozen=True):
    """A stream broke before a block of it was finished, and the reply is asked for once more.

    `reply` is what had come. It is no part of the conversation, but it was paid for; unless it is
    not `billed`, since it was the server that gave up.
    """

    reply: Reply
    billed: bool = True


class RetryNotice(msgspec.Struct, frozen=True):
    """The request will be sent again after `delay` seconds: the content of an `api_retry` frame."""

    attempt: int
    max_retries: int
    delay: float
    status: int | None
    kind: str

    @property
    def delay_ms(self) -> int:
        """The delay as frames give it."""
        return round(self.delay * 1000)


class ModelSwitch(msgspec.Struct, frozen=True):
    """Another model is asked from here on; `trigger` says why."""

    trigger: str
    original: Model
    fallback: Model


class ReplyDone(msgspec.Struct, frozen=True):
    """The reply is complete. Nothing follows."""

    reply: Reply


StreamItem = RawEvent | BlockDone | ReplyAbandoned | RetryNotice | ModelSwitch | ReplyDone
