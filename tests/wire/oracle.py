"""What frames a stream of bytes must give, found out with `json` and plain splitting; any difference raises."""

import contextlib
import json

import msgspec

from claude_wrapper import errors
from claude_wrapper.conversation.ending import Ending, why
from claude_wrapper.conversation.inbox import Inbox
from claude_wrapper.conversation.router import Router
from claude_wrapper.conversation.turns import TurnTracker
from claude_wrapper.wire.bodies import BadRequest, UnknownRequest, decode_reply
from claude_wrapper.wire.codec import BadFrame, FrameDecoder, MalformedLine, UnknownFrame, encode
from claude_wrapper.wire.control import ControlRequestFrame, ControlResponseFrame
from claude_wrapper.wire.framing import LineSplitter, OversizeLine
from claude_wrapper.wire.notices import SystemHead
from claude_wrapper.wire.requests_agent import decode_agent_request
from claude_wrapper.wire.requests_host import decode_host_request
from claude_wrapper.wire.system import decode_system
from claude_wrapper.wire.unions import AgentFrame, HostFrame

AGENT = FrameDecoder(AgentFrame)
HOST = FrameDecoder(HostFrame)
MOST_CHUNKS = 24
BODIES = {id(AGENT): decode_agent_request, id(HOST): decode_host_request}


class Seen:
    """What a line means to a plain reader."""

    def __init__(self, value):
        self.value = value


def check(data):
    """Take the first bytes as sizes of chunks and a limit, the rest as a stream, and look at all that is made of it."""
    sizes, limit, stream = (
        [1 + size for size in data[:4]],
        1 + 16 * (data[4] if len(data) > 4 else 255),
        data[5:],
    )
    chunks = list(cut(stream, sizes))
    check_framing(stream, chunks, limit)
    lines = split([stream], 1 << 20)
    for decoder in (AGENT, HOST):
        frames = decoder.decode_batch(lines)
        kept = [line for line in lines if line.strip(b" \t\n\r\x0b\x0c")]
        assert len(frames) == len(kept), (frames, kept)
        for line, frame in zip(kept, frames, strict=True):
            check_frame(decoder, line, frame)
    check_messages(stream, chunks)


def cut(stream, sizes):
    place = turn = 0
    least = len(stream) // MOST_CHUNKS
    while place < len(stream):
        size = max(least, sizes[turn % len(sizes)]) if sizes else len(stream)
        yield stream[place : place + size]
        place, turn = place + size, turn + 1


def split(chunks, limit):
    splitter = LineSplitter(limit)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    lines += splitter.finish()
    assert not splitter.pending
    return lines


def check_framing(stream, chunks, limit):
    expected = stream.split(b"\n")
    if not expected[-1]:
        expected.pop()
    lines = split(chunks, limit)
    assert len(lines) == len(expected)
    for line, wanted in zip(lines, expected, strict=True):
        if len(wanted) > limit:
            assert isinstance(line, OversizeLine), line
            assert line.size == len(wanted)
            assert line.head, line
            assert wanted.startswith(line.head)
        else:
            assert line == wanted


# -- frames


def plain(line):
    """What a plain reader sees in a line: as it is, or without what stands before the object and is no UTF-8."""
    seen = read(line.decode("utf-8", "surrogateescape"))
    if seen is None or not isinstance(seen.value, dict) or not is_clean(line):
        cleaned = line[max(line.find(b"{"), 0) :].decode("utf-8", "replace")
        return read(cleaned) or seen
    return seen


def is_clean(line):
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


class TwiceError(ValueError):
    """A key stands twice in an object: each reader has its own way with that."""


def read(text):
    try:
        return Seen(json.loads(text, object_pairs_hook=once, parse_constant=no_number))
    except TwiceError:
        raise
    except (ValueError, RecursionError):
        return None


def once(pairs):
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise TwiceError
    return {whole(key): whole_values(value) for key, value in fields.items()}


def whole_values(value):
    """The value with what is half a pair of surrogates replaced."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [whole_values(item) for item in value]
    return value


def whole(text):
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def no_number(name):
    raise ValueError(name)


def check_frame(decoder, line, frame):
    try:
        seen = plain(line)
    except TwiceError:
        return
    value = seen and seen.value
    if isinstance(frame, MalformedLine):
        assert not isinstance(value, dict) or has_huge_number(value), (line, frame.error)
        assert frame.line == line
        return
    if not isinstance(value, dict):
        # What is skipped is not looked at: text in a field without a struct may be anything.
        assert seen is None, (line, frame)
        return
    kind = value.get("type")
    if isinstance(frame, BadFrame):
        assert same(frame.raw, value), (line, frame.raw)
        assert frame.type == (kind if isinstance(kind, str) else None)
    elif isinstance(frame, UnknownFrame):
        assert same(frame.raw, value), (line, frame.raw)
        assert frame.type == kind
    else:
        assert isinstance(frame, (msgspec.Struct,))
        check_struct(decoder, line, frame, value)


def check_struct(decoder, line, frame, value):
    assert frame.__struct_config__.tag == value["type"]
    again = encode(frame)
    # A raw part is written as it came.
    assert part_of(plain(again).value, value), (line, again)
    # Raw parts are equal to themselves only; a block without a class is not written as it was read.
    assert decoder.decode(again) == frame or b'"raw":' in again or "msgspec.Raw" in repr(frame)
    if isinstance(frame, ControlRequestFrame):
        check_request(BODIES[id(decoder)](frame.request), value["request"], line)
    elif isinstance(frame, ControlResponseFrame):
        reply = getattr(frame.response, "response", None)
        if isinstance(reply, msgspec.Raw):
            with contextlib.suppress(errors.MessageParseError):
                assert same(decode_reply(reply, dict), value["response"]["response"])
    elif isinstance(frame, SystemHead):
        system = decode_system(line)
        if isinstance(system, MalformedLine):
            assert has_huge_number(value), line
        elif isinstance(system, UnknownFrame | BadFrame):
            assert same(system.raw, value)
        else:
            assert part_of(json.loads(encode(system)), value), (line, system)


def check_request(body, value, line):
    if isinstance(body, UnknownRequest):
        assert same(body.raw, value)
        assert body.subtype == value["subtype"]
    elif not isinstance(body, BadRequest):
        assert part_of(json.loads(encode(body)), value), (line, body)


def same(left, right):
    """Whether two values are equal, with numbers as they are and not as Python takes them."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right and isinstance(left, bool) is isinstance(right, bool)


def part_of(left, right):
    """Whether all that is in one value is in the other, which may have more fields."""
    if isinstance(left, dict) and isinstance(right, dict):
        if left.keys() == {"raw"} and "raw" not in right:
            left = left["raw"]
        # Some types are clear by themselves, and are written though they were left out.
        return all(part_of(left[key], right[key]) if key in right else key == "type" for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(part_of, left, right))
    if isinstance(left, float) and isinstance(right, int):
        # A field for any number holds no more of a very large one than that.
        right = right if isinstance(right, bool) else float(right)
    return left == right and isinstance(left, bool) is isinstance(right, bool)


def has_huge_number(value):
    """Whether a number is in it that other readers refuse."""
    if isinstance(value, dict):
        return any(map(has_huge_number, value.values()))
    if isinstance(value, list):
        return any(map(has_huge_number, value))
    return isinstance(value, float) and value in (float("inf"), float("-inf"))


# -- messages


def check_messages(stream, chunks):
    """No stream makes the router fail, and where it is cut changes nothing."""
    whole_stream, pieces = route([stream]), route(chunks)
    assert repr(whole_stream) == repr(pieces), (whole_stream, pieces)


def route(chunks):
    inbox, turns, peer = Inbox(1 << 30), TurnTracker(), Peer()
    router = Router(peer, inbox, turns, max_frame_bytes=1 << 20)
    turns.prompt_sent("prompt")
    for chunk in chunks:
        router.feed(chunk)
    router.finish()
    ending = Ending(
        code=1,
        tail=None,
        result=router.last_result,
        fault=router.last_fault,
        failure=None,
        stopped=False,
        turn_is_open=False,
    )
    messages = inbox.take_all()
    return (
        messages,
        peer.received,
        router.session_id,
        router.lost_lines,
        repr(why(ending)),
        turns.turn_is_open,
    )


class Peer:
    """Notes what it is given; a real one would answer, for which it needs an event loop."""

    def __init__(self):
        self.received = []

    def receive(self, frame):
        self.received.append(encode(frame))
