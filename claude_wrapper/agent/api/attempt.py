"""One try of a request: the response read as a stream of events, or as a message in one piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, suppress
from typing import Protocol

import anyio
import msgspec

from claude_wrapper.wire.codec import clean_json
from claude_wrapper.wire.sse import ServerEvent, SseParser

from .decoding import Decoded, EventDecoder
from .events import MalformedEventError, MessageStop, StreamError, StreamEvent
from .failure import Cause, FailedTryError, Failure, failure_of_error_event
from .fold import Block, ReplyFold, reply_from_message
from .items import BlockDone, RawEvent, ReplyDone, StreamItem
from .outgoing import Outgoing
from .transport import Response, Transport

__all__ = ["attempt"]

_REST = 0.05
_JSON = "application/json"
_AWS_STREAM = "application/vnd.amazon.eventstream"

Items = AsyncGenerator[StreamItem, None]


class Parser(Protocol):
    """Bytes to events; raises ValueError on bytes that are none."""

    def feed(self, chunk: bytes) -> list[ServerEvent]: ...


async def attempt(transport: Transport, outgoing: Outgoing, fold: ReplyFold) -> Items:
    """Send a request and give out its reply. Raises FailedTryError.

    `fold` is the caller's, so that what had come is at hand when the try fails.
    """
    async with transport.post(outgoing) as response:
        if response.status != 200:
            raise FailedTryError(await response.failure())
        # Some gateways answer in one piece although a stream was asked for.
        read = _read_message(response) if response.content_type == _JSON else _read_stream(response, fold)
        try:
            async with aclosing(read) as items:
                async for item in items:
                    yield item
        except FailedTryError:
            if not fold.has_all:
                raise
            # Only the word that nothing follows is missing.
            fold.finish()
            yield ReplyDone(fold.reply)


async def _read_stream(response: Response, fold: ReplyFold) -> Items:
    parser, decoder = _parser(response), EventDecoder()
    async with aclosing(response.chunks()) as chunks:
        async for chunk in chunks:
            for event, raw in _events(parser, decoder, chunk):
                block = _fed(fold, event)
                if block is not None:
                    yield BlockDone(block)
                elif isinstance(event, StreamError):
                    raise FailedTryError(_failure_of(event, response))
                is_end = isinstance(event, MessageStop) and fold.started
                if is_end:
                    for unended in fold.finish():
                        yield BlockDone(unended)
                yield RawEvent(event, msgspec.Raw(raw))
                if is_end:
                    await _skip_rest(chunks)
                    yield ReplyDone(fold.reply)
                    return
    if not fold.has_all:
        cause: Cause = "unfinished" if fold.started else "no_reply"
        raise FailedTryError(Failure(cause, _body_of(response), request_id=response.request_id))
    fold.finish()
    yield ReplyDone(fold.reply)


async def _read_message(response: Response) -> Items:
    message: object = None
    with suppress(msgspec.DecodeError, RecursionError):
        message = msgspec.json.decode(clean_json(await response.body()))
    reply = reply_from_message(message) if isinstance(message, dict) else None
    if reply is None:
        raise FailedTryError(Failure("no_reply", _body_of(response), request_id=response.request_id))
    for block in reply.blocks:
        yield BlockDone(block)
    yield ReplyDone(reply)


def _parser(response: Response) -> Parser:
    if response.content_type != _AWS_STREAM:
        return SseParser()
    from .aws_stream import AwsStreamParser  # noqa: PLC0415  # start-up: only one provider sends such streams

    return AwsStreamParser()


def _events(parser: Parser, decoder: EventDecoder, chunk: bytes) -> Iterator[Decoded]:
    try:
        for event in parser.feed(chunk):
            yield from decoder.decode(event.data)
    except MalformedEventError as error:
        raise FailedTryError(Failure("malformed", f"an event that cannot be read ({error})")) from error
    except ValueError as error:
        raise FailedTryError(Failure("malformed", str(error))) from error


def _fed(fold: ReplyFold, event: StreamEvent) -> Block | None:
    try:
        return fold.feed(event)
    except MalformedEventError as error:
        raise FailedTryError(Failure("malformed", str(error))) from error


def _failure_of(event: StreamError, response: Response) -> Failure:
    return failure_of_error_event(
        event.error.type, event.error.message, event.request_id or response.request_id
    )


def _body_of(response: Response) -> str:
    return f"a body of type {response.content_type or 'unknown'} that holds no reply"


async def _skip_rest(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end of the body, so that the connection can serve the next request.

    The end is nearly always there already. A server that keeps the connection busy loses it.
    """
    with anyio.move_on_after(_REST), suppress(FailedTryError):
        async for _ in chunks:
            pass
