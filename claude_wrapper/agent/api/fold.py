"""Stream events to a reply: the pure folding of deltas into finished blocks."""

from __future__ import annotations

from typing import Any

import msgspec

from claude_wrapper.wire.codec import clean_json

from .events import (
    BlockDelta,
    BlockStart,
    BlockStop,
    CitationsDelta,
    Delta,
    InputJsonDelta,
    MalformedEventError,
    MessageDelta,
    MessageStart,
    SignatureDelta,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
)
from .usage import Usage, read_usage

__all__ = ["UNPARSED_INPUT", "Block", "Reply", "ReplyFold", "reply_from_message"]

UNPARSED_INPUT = "__unparsedToolInput"
"""The key under which a tool call whose arguments are no JSON object carries them as text."""

_TEXT_FIELDS: dict[type, str] = {
    TextDelta: "text",
    ThinkingDelta: "thinking",
    SignatureDelta: "signature",
    InputJsonDelta: "partial_json",
}

_WRITTEN_BY: dict[Any, tuple[type, ...]] = {
    "text": (TextDelta, CitationsDelta),
    "thinking": (ThinkingDelta, SignatureDelta),
    "tool_use": (InputJsonDelta,),
    "server_tool_use": (InputJsonDelta,),
}
"""The deltas of the blocks that are known; others take any."""


class Block(msgspec.Struct):
    """One content block of a reply.

    `data` is the block as the API knows it, so that history, transcript and frames can carry it
    unchanged, whatever its type. `unparsed` is set on a tool call whose arguments are no JSON
    object: it is their text, and `data` carries it under UNPARSED_INPUT, so that the call can be
    answered instead of run. `size` is the length of what the model wrote, in characters.
    """

    index: int
    data: dict[str, Any]
    unparsed: str | None = None
    size: int = 0

    @property
    def type(self) -> str:
        """The block's type; empty if the server sent none."""
        kind = self.data.get("type")
        return kind if isinstance(kind, str) else ""


class Reply(msgspec.Struct):
    """A reply, complete or as far as it came.

    `blocks` are the finished blocks, `open_blocks` those that the end of the stream cut off.
    `head` is the message as its start announced it, without content: what frames repeat of it.
    `charged` is set once its price is part of the totals.
    """

    head: dict[str, Any] = {}
    blocks: list[Block] = []
    open_blocks: list[Block] = []
    usage: Usage = Usage()
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: dict[str, Any] | None = None
    container: dict[str, Any] | None = None
    context_management: dict[str, Any] | None = None
    complete: bool = False
    streamed: bool = True
    charged: bool = False

    @property
    def id(self) -> str:
        """The API's id of the message; empty before its start has come."""
        return str(self.head.get("id") or "")

    @property
    def model(self) -> str:
        """The model that the API says it used."""
        return str(self.head.get("model") or "")

    @property
    def content(self) -> list[dict[str, Any]]:
        """The finished blocks as they go into the history."""
        return [block.data for block in self.blocks]

    @property
    def text(self) -> str:
        """What the model says in its finished blocks."""
        return "".join(str(block.data.get("text", "")) for block in self.blocks if block.type == "text")

    @property
    def spent(self) -> Usage:
        """What to charge: the usage, and for a reply that broke off an estimate of what was written."""
        if self.complete:
            return self.usage
        blocks = [*self.blocks, *self.open_blocks]
        return self.usage.with_output(sum(int(block.size / 4 + 0.5) for block in blocks))


class _OpenBlock:
    """A block that is being written: what its start said, and the pieces that came since."""

    __slots__ = ("citations", "data", "index", "pieces")

    def __init__(self, index: int, data: dict[str, Any]) -> None:
        self.index = index
        self.data = data
        self.pieces: dict[str, list[str]] = {}
        self.citations: list[dict[str, Any]] = []

    def add(self, delta: Delta) -> None:
        kind = self.data.get("type")
        if kind in _WRITTEN_BY and not isinstance(delta, _WRITTEN_BY[kind]):
            raise MalformedEventError(f"a delta of another kind than the block of type {kind}")
        if isinstance(delta, CitationsDelta):
            self.citations.append(delta.citation)
        else:
            name = _TEXT_FIELDS[type(delta)]
            self.pieces.setdefault(name, []).append(getattr(delta, name))

    def close(self) -> Block:
        """Join the pieces. The open block stays usable: an interrupted reply is looked at twice."""
        data = dict(self.data)
        arguments: str | None = None
        size = len(data["name"]) if isinstance(data.get("name"), str) else 0
        for name, pieces in self.pieces.items():
            text = "".join(pieces)
            if name == "partial_json":
                arguments = text
            else:
                data[name] = _text(data.get(name)) + text
            size += 0 if name == "signature" else len(text)
        if self.citations:
            earlier = data.get("citations")
            data["citations"] = [*(earlier if isinstance(earlier, list) else []), *self.citations]
        block = Block(self.index, data, size=size)
        if arguments is not None or "input" in data:
            _read_input(block, arguments)
        return block


class ReplyFold:
    """Folds the events of one stream. Raises MalformedEventError on one that has no place in the reply.

    What such an event says is lost, and nobody could tell what else is.
    """

    def __init__(self) -> None:
        self._reply = Reply()
        self._open: dict[int, _OpenBlock] = {}

    def feed(self, event: StreamEvent) -> Block | None:
        """Take an event; return the block that it completes."""
        if isinstance(event, BlockDelta):
            self._opened(event.index).add(event.delta)
        elif isinstance(event, BlockStart):
            if not self.started:
                raise MalformedEventError("a block before the message begins")
            self._open[event.index] = _OpenBlock(event.index, event.content_block)
        elif isinstance(event, BlockStop):
            self._opened(event.index)
            return self._finish(event.index)
        elif isinstance(event, MessageStart):
            self._begin(event.message)
        elif isinstance(event, MessageDelta):
            self._change(event)
        return None

    def finish(self) -> list[Block]:
        """Take the end of the reply; return the blocks that the server forgot to end."""
        self._reply.complete = True
        return [block for index in sorted(self._open) if (block := self._finish(index))]

    @property
    def reply(self) -> Reply:
        """The reply as far as it has come."""
        self._reply.open_blocks = [self._open[index].close() for index in sorted(self._open)]
        return self._reply

    @property
    def has_blocks(self) -> bool:
        """Whether a block is finished."""
        return bool(self._reply.blocks)

    @property
    def started(self) -> bool:
        """Whether the message has begun."""
        return bool(self._reply.head)

    @property
    def has_all(self) -> bool:
        """Whether nothing is missing but the event that says so, which some gateways do not send."""
        return self._reply.stop_reason is not None and not self._open

    def _opened(self, index: int) -> _OpenBlock:
        block = self._open.get(index)
        if block is None:
            raise MalformedEventError(f"an event of block {index}, which has not begun")
        return block

    def _begin(self, message: dict[str, Any]) -> None:
        self._reply.head = {key: value for key, value in message.items() if key != "content"}
        self._reply.usage = read_usage(message.get("usage"))

    def _change(self, event: MessageDelta) -> None:
        reply = self._reply
        change = event.delta
        reply.stop_reason = change.stop_reason or reply.stop_reason
        reply.stop_sequence = change.stop_sequence or reply.stop_sequence
        reply.stop_details = change.stop_details or reply.stop_details
        reply.container = change.container or reply.container
        reply.context_management = event.context_management or reply.context_management
        reply.usage = reply.usage.updated(event.usage)

    def _finish(self, index: int) -> Block | None:
        started = self._open.pop(index, None)
        if started is None:
            return None
        block = started.close()
        self._reply.blocks.append(block)
        return block


def reply_from_message(message: dict[str, Any]) -> Reply | None:
    """Make a reply of a message that came in one piece; None if it is no message."""
    content = message.get("content")
    if message.get("type") != "message" or not isinstance(content, list):
        return None
    reply = Reply(
        head={key: value for key, value in message.items() if key != "content"},
        usage=read_usage(message.get("usage")),
        complete=True,
        streamed=False,
    )
    reply.stop_reason = message.get("stop_reason")
    reply.stop_sequence = message.get("stop_sequence")
    reply.blocks = [
        _OpenBlock(index, data).close() for index, data in enumerate(content) if isinstance(data, dict)
    ]
    return reply


def _read_input(block: Block, arguments: str | None) -> None:
    """Give a tool call its input as an object, or mark it as one that cannot be run."""
    value = block.data.get("input", {})
    if arguments and arguments.strip():
        value = _parse(arguments)
        text = arguments
        if text.strip() == "null":
            value = {}
    else:
        text = "" if isinstance(value, dict) else msgspec.json.encode(value).decode()
    if not isinstance(value, dict):
        block.unparsed = text
        value = {UNPARSED_INPUT: {"raw": text, "len": len(text.encode())}}
    block.data["input"] = value


def _parse(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return msgspec.json.decode(clean_json(text.encode()))
    except (msgspec.DecodeError, RecursionError):
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
