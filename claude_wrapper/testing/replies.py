"""The message, and the stream of events, that a turn becomes on the wire."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from claude_wrapper.testing import lenient_json
from claude_wrapper.testing.turns import Ending, Failure, Hold, Turn

__all__ = ["Finish", "Halt", "Pause", "Step", "Stop", "error_body", "events", "framed", "message_of"]

encode = lenient_json.encode

USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
}
TEXT_CHUNK = 40
INPUT_CHUNK = 60
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class Pause(NamedTuple):
    """Nothing is sent for some seconds."""

    seconds: float


class Halt(NamedTuple):
    """Nothing is sent until the gate is open."""

    gate: str


class Finish(NamedTuple):
    """The connection ends here, whatever was promised."""

    how: Literal["close", "reset"]


Stop = Pause | Halt | Finish
Step = bytes | Stop


def message_of(turn: Turn, model: str) -> dict[str, Any]:
    """The whole message as a request without streaming gets it; ids are new in each."""
    content = _content_of(turn)
    stop = turn.stop_reason
    if stop is None:
        stop = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**USAGE, **turn.usage},
    }


def error_body(failure: Failure) -> bytes:
    """The body of an error reply."""
    error = {"type": failure.error, "message": failure.message}
    return encode({"type": "error", "error": error})


def events(turn: Turn, message: dict[str, Any]) -> Iterator[Step]:
    """The message as events, with the turn's stops in between."""
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield _event("message_start", message=begun)
    ending = turn.ending
    if ending is not None and ending.block < 0:
        yield from _break_off(ending)
        return
    for index, block in enumerate(message["content"]):
        holds = [hold for hold in turn.holds if hold.block == index]
        yield from _pieces(index, block, turn, holds)
        if ending is not None and ending.block == index:
            yield from _break_off(ending)
            return
        yield _event("content_block_stop", index=index)
        yield from (Halt(hold.gate) for hold in holds if hold.chunks is None)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage=message["usage"])
    yield _event("message_stop")


def framed(steps: Iterator[Step], frame: Callable[[bytes], bytes]) -> Iterator[Step]:
    """The same steps with each run of bytes put into one frame, and an empty frame at the end."""
    run: list[bytes] = []
    for step in steps:
        if isinstance(step, bytes):
            run.append(step)
            continue
        if run:
            yield frame(b"".join(run))
            run.clear()
        yield step
    if run:
        yield frame(b"".join(run))
    yield frame(b"")


def _content_of(turn: Turn) -> list[dict[str, Any]]:
    content = list(turn.content or ())
    written = encode(content)
    if b"$ID" in written:
        content = lenient_json.decode(written.replace(b"$ID", uuid.uuid4().hex[:12].encode()))
    return [
        {**block, "id": f"toolu_{uuid.uuid4().hex[:20]}"}
        if block["type"] == "tool_use" and "id" not in block
        else block
        for block in content
    ]


def _pieces(index: int, block: dict[str, Any], turn: Turn, holds: list[Hold]) -> Iterator[Step]:
    opening, deltas = _opened(block, turn.chunk or TEXT_CHUNK)
    yield _event("content_block_start", index=index, content_block=opening)
    inside = [hold for hold in holds if hold.chunks is not None]
    slow = turn.chunk_delay and block["type"] == "text"
    for sent in itertools.count():
        yield from (Halt(hold.gate) for hold in inside if hold.chunks == sent)
        delta = next(deltas, None)
        if delta is None:
            yield from (Halt(hold.gate) for hold in inside if (hold.chunks or 0) > sent)
            return
        yield _event("content_block_delta", index=index, delta=delta)
        if slow:
            yield Pause(turn.chunk_delay)


def _opened(block: dict[str, Any], chunk: int) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """The block as its start event shows it, and the deltas that fill it."""
    kind = block["type"]
    if kind == "text":
        return {**block, "text": "", **({"citations": []} if "citations" in block else {})}, _text(
            block, chunk
        )
    if kind == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}, _thinking(block)
    if kind in CALLS:
        return {**block, "input": {}}, _input(block)
    return block, iter(())


def _text(block: dict[str, Any], chunk: int) -> Iterator[dict[str, Any]]:
    text = block["text"]
    for start in range(0, len(text), chunk):
        yield {"type": "text_delta", "text": text[start : start + chunk]}
    for citation in block.get("citations") or ():
        yield {"type": "citations_delta", "citation": citation}


def _thinking(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "thinking_delta", "thinking": block["thinking"]}
    yield {"type": "signature_delta", "signature": block.get("signature", "sig")}


def _input(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    text = lenient_json.spaced(encode(block["input"])).decode()
    for start in range(0, len(text), INPUT_CHUNK):
        yield {"type": "input_json_delta", "partial_json": text[start : start + INPUT_CHUNK]}


def _break_off(ending: Ending) -> Iterator[Step]:
    if ending.kind == "error":
        yield _event("error", error={"type": ending.error, "message": ending.message})
    else:
        yield Finish(ending.kind)


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), encode({"type": kind, **fields}))
