"""Lines become frames, whatever the lines hold, and frames become lines that every reader takes."""

import gc
import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.wire.blocks import TextBlock, UnknownBlock
from claude_wrapper.wire.codec import (
    BadFrame,
    FrameDecoder,
    MalformedLine,
    UnknownFrame,
    decode_object,
    encode,
    encode_line,
)
from claude_wrapper.wire.control import ControlRequestFrame, KeepAliveFrame
from claude_wrapper.wire.framing import OversizeLine
from claude_wrapper.wire.messages import AssistantFrame, PromptBody, PromptFrame, UserFrame
from claude_wrapper.wire.system import decode_system
from claude_wrapper.wire.unions import AgentFrame, HostFrame

AGENT = FrameDecoder(AgentFrame)
HOST = FrameDecoder(HostFrame)

KEEP_ALIVE = b'{"type":"keep_alive"}'

any_text = st.text(st.characters())
"""Texts as Python has them, lone surrogates included."""


def prompt(text):
    return PromptFrame(message=PromptBody(role="user", content=text))


def prompt_line(json_string):
    return b'{"type":"user","message":{"role":"user","content":%s}}' % json_string


def content(line):
    frame = HOST.decode(line)
    assert isinstance(frame, PromptFrame), frame
    return frame.message.content


def clean(text):
    """What a text with surrogates means: pairs joined, halves replaced."""
    joined = re.sub(
        "[\ud800-\udbff][\udc00-\udfff]",
        lambda m: m[0].encode("utf-16", "surrogatepass").decode("utf-16"),
        text,
    )
    return re.sub("[\ud800-\udfff]", "\ufffd", joined)


# Batches.


def test_blank_lines_are_dropped():
    assert HOST.decode_batch([b"", b"\r", b"  \t", KEEP_ALIVE, b"", KEEP_ALIVE + b"\r", b""]) == [
        KeepAliveFrame(),
        KeepAliveFrame(),
    ]


@given(
    st.lists(st.sampled_from([KEEP_ALIVE, b"", b"nonsense", b'{"type":"new"}', b"[1]", b'{"type":"user"}']))
)
def test_a_bad_line_costs_itself_alone(lines):
    frames = HOST.decode_batch(lines)
    kinds = {
        KEEP_ALIVE: KeepAliveFrame,
        b"nonsense": MalformedLine,
        b'{"type":"new"}': UnknownFrame,
        b"[1]": MalformedLine,
        b'{"type":"user"}': BadFrame,
    }
    assert [type(frame) for frame in frames] == [kinds[line] for line in lines if line]


@given(st.lists(st.binary(max_size=60)))
def test_no_bytes_raise(lines):
    assert len(HOST.decode_batch(lines)) <= len(lines)
    assert len(AGENT.decode_batch(lines)) <= len(lines)


def test_an_oversize_line_is_malformed_and_tells_its_size():
    before, oversize, after = HOST.decode_batch(
        [KEEP_ALIVE, OversizeLine(b'{"type":"user"', 70_000_000), KEEP_ALIVE]
    )
    assert (before, after) == (KeepAliveFrame(), KeepAliveFrame())
    assert (oversize.size, oversize.line) == (70_000_000, b'{"type":"user"')
    assert "70,000,000" in str(oversize.error)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_cycle_collector_is_left_as_it_was(enabled):
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        HOST.decode_batch([KEEP_ALIVE, b"nonsense", KEEP_ALIVE])
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


# What programs put into lines by mistake.


@pytest.mark.parametrize("junk", [b"[DEBUG] starting ", b"\xef\xbb\xbf", b"\x1b[0m", b"\xff\xff "])
def test_what_stands_before_the_object_is_skipped(junk):
    assert HOST.decode(junk + KEEP_ALIVE) == KeepAliveFrame()
    assert HOST.decode(junk + b'{"type":"new"}').raw == {"type": "new"}
    assert HOST.decode(junk + prompt_line(b'"hi"')) == prompt("hi")


def test_bytes_that_are_no_utf8_cost_one_character_each():
    assert content(prompt_line(b'"a\xffb"')) == "a\ufffdb"
    assert content(prompt_line(b'"cut \xe2\x82"')) == "cut \ufffd"
    assert content(prompt_line('"käse \u2028 end"'.encode())) == "käse \u2028 end"


def test_bytes_that_are_no_utf8_do_not_hide_what_a_frame_is():
    assert HOST.decode(b'{"type":"new","text":"\xff"}').raw == {"type": "new", "text": "\ufffd"}
    assert HOST.decode(b'{"message":{"role":"\xff"},"type":"user"}').raw["type"] == "user"
    assert HOST.decode(b'{"type":"keep_alive","beside":"\xff"}') == KeepAliveFrame()


def test_half_a_surrogate_pair_is_replaced():
    assert content(prompt_line(rb'"a\ud800b"')) == "a\ufffdb"
    assert content(prompt_line(rb'"a\udc00"')) == "a\ufffd"
    assert content(prompt_line(rb'"\uD83D\uDE00 \uD83D"')) == "\U0001f600 \ufffd"


def test_a_backslash_in_the_text_is_no_escape():
    assert content(prompt_line(rb'"\\ud800 \ud800"')) == "\\ud800 \ufffd"
    assert content(prompt_line(rb'"\\\\\ud800"')) == "\\\\\ufffd"


@given(any_text)
def test_every_python_text_is_read_with_its_surrogates_made_whole(text):
    assert content(prompt_line(json.dumps(text).encode())) == clean(text)


@given(any_text, any_text)
def test_every_python_text_can_be_written(text, key):
    line = encode_line(prompt([{"text": text, "k" + key: (text, {key: None})}]))
    assert line.count(b"\n") == 1
    assert json.loads(line.decode())["message"]["content"] == [
        {"text": clean(text), "k" + clean(key): [clean(text), {clean(key): None}]}
    ]


def test_a_raw_body_is_written_beside_a_text_that_has_to_be_cleaned():
    frame = ControlRequestFrame(request_id="r\ud800", request=msgspec.Raw(b'{"subtype":"interrupt"}'))
    assert (
        encode(frame)
        == '{"type":"control_request","request_id":"r\ufffd","request":{"subtype":"interrupt"}}'.encode()
    )


# Values at the edge.


@pytest.mark.parametrize(
    "line", [b"[1]", b"5", b'"text"', b"null", b"{", b'{"type":"keep_alive"', b"}", b"{}{}"]
)
def test_what_is_no_object_is_malformed(line):
    frame = HOST.decode(line)
    assert isinstance(frame, MalformedLine)
    assert frame.line == line


def test_nesting_without_end_is_malformed():
    deep = b"[" * 200_000 + b"]" * 200_000
    frames = HOST.decode_batch(
        [KEEP_ALIVE, b'{"type":"keep_alive","x":%s}' % deep, b'{"type":"new","x":%s}' % deep, KEEP_ALIVE]
    )
    assert [type(frame) for frame in frames] == [KeepAliveFrame, MalformedLine, MalformedLine, KeepAliveFrame]
    for line in (b'{"x":%s}' % deep, b'{"bad":"\xff","x":%s}' % deep):
        with pytest.raises(msgspec.DecodeError):
            decode_object(line)


def test_huge_whole_numbers_are_kept():
    frame = HOST.decode(
        b'{"type":"user","message":{"role":"user","content":[{"n":123456789012345678901234567890}]}}'
    )
    assert frame.message.content == [{"n": 123456789012345678901234567890}]
    assert json.loads(encode(frame))["message"]["content"] == [{"n": 123456789012345678901234567890}]


@pytest.mark.parametrize("number", [b"9" * 5000, b"1e999", b"NaN", b"Infinity", b"-Infinity"])
def test_numbers_that_are_none_are_malformed(number):
    line = b'{"type":"user","message":{"role":"user","content":[{"n":%s}]}}' % number
    assert isinstance(HOST.decode(line), MalformedLine)


def test_numbers_that_json_has_not_are_written_as_null():
    assert encode({"a": float("nan"), "b": float("inf")}) == b'{"a":null,"b":null}'


def test_the_last_of_two_equal_keys_counts():
    line = b'{"type":"user","message":{"role":"user","content":"a","content":"b"}}'
    assert content(line) == "b"
    assert isinstance(HOST.decode(b'{"type":"keep_alive","type":"user"}'), BadFrame)


# What this version does not know.


def test_a_frame_of_an_unknown_type_survives_whole():
    raw = {"type": "tomorrow", "list": [1, {"a": None}], "uuid": "u"}
    frame = AGENT.decode(json.dumps(raw).encode())
    assert isinstance(frame, UnknownFrame)
    assert (frame.type, frame.raw) == ("tomorrow", raw)


def test_a_system_frame_of_an_unknown_subtype_survives_whole():
    raw = {"type": "system", "subtype": "tomorrow", "list": [1, {"a": None}], "session_id": "s"}
    line = json.dumps(raw).encode()
    assert AGENT.decode(line).subtype == "tomorrow"
    frame = decode_system(line)
    assert isinstance(frame, UnknownFrame)
    assert (frame.type, frame.raw) == ("system", raw)


@pytest.mark.parametrize(
    ("raw", "type_"),
    [
        ({"type": "user"}, "user"),
        ({"type": "user", "message": {"role": "user", "content": 5}}, "user"),
        ({"type": 5}, None),
        ({}, None),
        ({"type": "system"}, "system"),
    ],
)
def test_a_frame_of_another_shape_is_bad_and_survives_whole(raw, type_):
    frame = AGENT.decode(json.dumps(raw).encode())
    assert isinstance(frame, BadFrame)
    assert (frame.type, frame.raw) == (type_, raw)
    assert isinstance(frame.error, msgspec.ValidationError)


def test_a_known_system_frame_of_another_shape_is_bad():
    frame = decode_system(b'{"type":"system","subtype":"status"}')
    assert isinstance(frame, BadFrame)
    assert "status" in str(frame.error)


def test_a_system_frame_without_a_subtype_is_bad():
    frame = decode_system(b'{"type":"system"}')
    assert isinstance(frame, BadFrame)
    assert frame.type == "system"


def test_unknown_fields_are_ignored():
    assert HOST.decode(b'{"type":"keep_alive","tomorrow":1}') == KeepAliveFrame()


@pytest.mark.parametrize("kind", ["assistant", "user"])
def test_a_block_of_an_unknown_type_is_kept_in_its_place(kind):
    blocks = [
        {"type": "a", "x": [1]},
        {"type": "text", "text": "hi"},
        {"type": "b"},
        {"type": "text", "text": "ho"},
    ]
    raw = {"type": kind, "uuid": "u", "message": {"role": kind, "model": "m", "content": blocks}}
    frame = AGENT.decode(json.dumps(raw).encode())
    assert isinstance(frame, AssistantFrame if kind == "assistant" else UserFrame)
    assert frame.uuid == "u"
    assert frame.message.content == [
        UnknownBlock({"type": "a", "x": [1]}),
        TextBlock("hi"),
        UnknownBlock({"type": "b"}),
        TextBlock("ho"),
    ]


def test_an_unknown_block_does_not_excuse_another_fault():
    raw = {"type": "assistant", "message": {"content": [{"type": "a"}, {"type": "text"}], "model": "m"}}
    frame = AGENT.decode(json.dumps(raw).encode())
    assert isinstance(frame, BadFrame)
    assert frame.raw == raw


def test_a_server_tool_of_a_later_provider_is_read():
    raw = {"type": "server_tool_use", "id": "s", "name": "tomorrow", "input": {}}
    line = json.dumps({"type": "assistant", "message": {"content": [raw], "model": "m"}}).encode()
    assert AGENT.decode(line).message.content[0].name == "tomorrow"
