"""The data of a stream's events to typed events, however servers and gateways bend them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from claude_wrapper.wire.codec import clean_json

from .events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    Delta,
    InputJsonDelta,
    MalformedEventError,
    MessageDelta,
    MessageStart,
    MessageStop,
    Ping,
    StreamError,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    UnknownEvent,
)

__all__ = ["Decoded", "EventDecoder", "decode_event"]

_known = msgspec.json.Decoder(
    BlockDelta | BlockStart | BlockStop | MessageStart | MessageDelta | MessageStop | Ping | StreamError
)
_head = msgspec.json.Decoder(UnknownEvent)
_OF_BLOCKS = frozenset({"content_block_start", "content_block_delta", "content_block_stop"})
_REPLACEMENT = "\ufffd"
_FIRST_HALF_AT_END = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?=\"\s*[,}])")
_SECOND_HALF_AT_START = re.compile(rb"\"(?:text|thinking|partial_json)\"\s*:\s*\"(?=\\u[dD][c-fC-F])")
_TEXTS: dict[type, Callable[[str], Delta]] = {
    TextDelta: TextDelta,
    ThinkingDelta: ThinkingDelta,
    InputJsonDelta: InputJsonDelta,
}

Decoded = tuple[StreamEvent, bytes]


class EventDecoder:
    """Decodes the events of one stream.

    A character may be divided between two deltas, as two halves of a surrogate pair: the first
    half is held back and given out with the second. One that no second follows becomes a delta of
    its own, with the sign for what is no character.
    """

    def __init__(self) -> None:
        self._half = b""
        self._of: BlockDelta | None = None

    def decode(self, data: bytes) -> list[Decoded]:
        """Decode the data of one event; raises MalformedEventError."""
        if self._of is None and b"\\u" not in data:
            return [decode_event(data)]
        earlier: list[Decoded] = []
        if self._of is not None:
            event, raw = decode_event(data)
            if isinstance(event, Ping):
                return [(event, raw)]
            joined = _SECOND_HALF_AT_START.sub(self._with_half, data, count=1)
            if joined == data or not _goes_on(self._of, event):
                earlier.append(_lone(self._of))
                joined = data
            data, self._of = joined, None
        return [*earlier, self._without_half(data)]

    def _with_half(self, found: re.Match[bytes]) -> bytes:
        return found[0] + self._half

    def _without_half(self, data: bytes) -> Decoded:
        """Decode an event, and hold back the first half of a character at its end."""
        whole, half = _divided(data)
        if half:
            event, raw = decode_event(whole)
            if isinstance(event, BlockDelta) and type(event.delta) in _TEXTS:
                self._half, self._of = half, event
                return event, raw
        return decode_event(data)


def decode_event(data: bytes) -> Decoded:
    """Decode the data of one event; return it with its bytes, fit to stand in a line of JSON.

    The bytes differ from `data` where that spans lines, and where it is not valid text: half a
    surrogate pair, or bytes that are no UTF-8, would spoil every line that repeats them.
    """
    try:
        if b"\n" in data:
            data = msgspec.json.format(data, indent=-1)
        if not data.isascii():
            data.decode()
        return _decode(data), data
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        cleaned = clean_json(data)
    try:
        return _decode(cleaned), cleaned
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedEventError(str(error)) from error


def _decode(data: bytes) -> StreamEvent:
    try:
        event: StreamEvent = _known.decode(data)
        return event
    except msgspec.ValidationError:
        pass
    fields = msgspec.json.decode(data)
    if isinstance(fields, dict) and fields.get("type") in _OF_BLOCKS:
        return _mended(fields)
    try:
        # A new kind of event, or one that lost its shape: neither ends the reply.
        return _head.decode(data)
    except msgspec.ValidationError:
        return UnknownEvent()


def _mended(fields: dict[str, Any]) -> StreamEvent:
    """An event of a block whose index is missing or a text, or whose delta is of a new kind.

    One that lost the block or the delta itself spoils the reply: nobody knows what it said.
    """
    for name in ("content_block", "delta"):
        if name in fields and not isinstance(fields[name], dict):
            raise MalformedEventError(f"an event whose {name} is no object")
    if fields["type"] == "content_block_start" and "content_block" not in fields:
        raise MalformedEventError("a block that begins without saying what it is")
    index = fields.get("index")
    if not isinstance(index, int):
        fields["index"] = int(index) if isinstance(index, str) and index.isdecimal() else 0
    try:
        event: StreamEvent = _known.decode(msgspec.json.encode(fields))
        return event
    except msgspec.ValidationError:
        return UnknownEvent(fields["type"])


def _divided(data: bytes) -> tuple[bytes, bytes]:
    """Take the first half of a divided character from the end of a delta's text."""
    for found in _FIRST_HALF_AT_END.finditer(data):
        start = found.start()
        slashes = len(data[:start]) - len(data[:start].rstrip(b"\\"))
        if slashes % 2 == 0:
            return data[:start] + data[found.end() :], found[0]
    return data, b""


def _goes_on(before: BlockDelta, event: StreamEvent) -> bool:
    same = isinstance(event, BlockDelta) and event.index == before.index
    return same and isinstance(event, BlockDelta) and type(event.delta) is type(before.delta)


def _lone(of: BlockDelta) -> Decoded:
    event = BlockDelta(of.index, _TEXTS[type(of.delta)](_REPLACEMENT))
    return event, msgspec.json.encode(event)
