"""The words in which a script of the model is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from claude_wrapper.testing.turns import (
    Ending,
    Failure,
    Headers,
    Hold,
    Turn,
    WholeReply,
    check_block,
)

__all__ = [
    "block",
    "call",
    "cut",
    "error_event",
    "fail",
    "hang_up",
    "html",
    "malformed",
    "redacted",
    "say",
    "stall",
    "think",
    "turn",
]

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
"""The error type that the Messages API puts beside each status (documentation of the API, 2026)."""


def turn(
    *parts: Turn,
    usage: Mapping[str, Any] | None = None,
    stop_reason: str | None = None,
    delay: float = 0.0,
    chunk: int | None = None,
    chunk_delay: float = 0.0,
    headers: Mapping[str, str] | None = None,
) -> Turn:
    """One reply of several parts, with settings of the whole; without parts an empty reply."""
    whole = Turn(
        content=None if parts else (),
        usage=dict(usage or {}),
        stop_reason=stop_reason,
        delay=delay,
        chunk=chunk,
        chunk_delay=chunk_delay,
        headers=_pairs(headers),
    )
    for part in parts:
        whole += part
    return whole


def block(content: Mapping[str, Any]) -> Turn:
    """A content block as it is, whatever its type: server tools, their results, future kinds."""
    written = dict(content)
    check_block(written)
    return Turn(content=(written,))


def say(text: str) -> Turn:
    """A text block."""
    return block({"type": "text", "text": text})


def think(text: str, signature: str = "sig") -> Turn:
    """A thinking block."""
    return block({"type": "thinking", "thinking": text, "signature": signature})


def redacted(data: str = "opaque") -> Turn:
    """A thinking block whose text is withheld."""
    return block({"type": "redacted_thinking", "data": data})


def call(
    tool: str,
    tool_input: Mapping[str, Any] | None = None,
    /,
    *,
    tool_use_id: str | None = None,
    **arguments: Any,
) -> Turn:
    """A tool call; the input as keywords, as a mapping, or both. Without an id each reply gets a new one."""
    written: dict[str, Any] = {"type": "tool_use", "name": tool, "input": {**(tool_input or {}), **arguments}}
    if tool_use_id is not None:
        written["id"] = tool_use_id
    return block(written)


def fail(
    status: int,
    *,
    times: int | None = 1,
    error: str | None = None,
    message: str = "scripted failure",
    headers: Mapping[str, str] | None = None,
) -> Turn:
    """An error status for the next `times` requests (None: for every one), then what follows."""
    error = error or ERROR_TYPES.get(status, "api_error")
    failure = Failure(status=status, times=times, error=error, message=message, headers=_pairs(headers))
    return Turn(failures=(failure,))


def stall(gate: str, *, after_block: int | None = None, after_chunks: int | None = None) -> Turn:
    """Stand still until `model.gate(gate)` is released.

    First in a sum: before anything is sent. After blocks: behind the last of them, or behind
    block `after_block`; with `after_chunks` inside that block, once so many pieces are out.
    """
    anchored = after_block is not None
    position = -1 if after_block is None else after_block
    return Turn(holds=(Hold(gate=gate, block=position, chunks=after_chunks, anchored=anchored),))


def cut(*, after_block: int | None = None, reset: bool = False) -> Turn:
    """Close the connection within the reply, at the last block so far or at `after_block`.

    `reset` drops the connection instead of closing it.
    """
    return Turn(ending=_ending("reset" if reset else "close", after_block))


def error_event(
    error: str = "overloaded_error",
    message: str = "scripted failure",
    *,
    after_block: int | None = None,
) -> Turn:
    """Break off the stream with an error event, the way the API reports trouble half way."""
    ending = _ending("error", after_block)
    return Turn(ending=msgspec.structs.replace(ending, error=error, message=message))


def malformed(
    body: bytes | str, *, status: int = 200, content_type: str = "text/event-stream", bare: bool = False
) -> Turn:
    """A reply whose body is exactly this; with `bare` not even a status line goes before it."""
    data = body.encode() if isinstance(body, str) else body
    return Turn(whole=WholeReply(body=data, status=status, content_type=content_type, bare=bare))


def html(page: str = "<html><body>Bad gateway</body></html>", *, status: int = 502) -> Turn:
    """A web page in place of a reply, as a proxy in between would send it."""
    return malformed(page, status=status, content_type="text/html; charset=utf-8")


def hang_up() -> Turn:
    """Close the connection without a single byte."""
    return malformed(b"", bare=True)


def _ending(kind: Literal["close", "reset", "error"], after_block: int | None) -> Ending:
    if after_block is None:
        return Ending(kind=kind)
    return Ending(kind=kind, block=after_block, anchored=True)


def _pairs(headers: Mapping[str, str] | None) -> Headers:
    pairs: Iterable[tuple[str, str]] = (headers or {}).items()
    return tuple(pairs)
