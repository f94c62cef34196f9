import json
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.api import events as ev
from claude_wrapper.agent.api.fold import UNPARSED_INPUT, ReplyFold, reply_from_message

START = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}


def start(**usage):
    return ev.MessageStart({**START, "usage": {"input_tokens": 10, "output_tokens": 1, **usage}})


def fold(*stream):
    folded = ReplyFold()
    blocks = [block for event in stream if (block := folded.feed(event)) is not None]
    return folded, blocks


def block_of(start_block, *deltas):
    _, blocks = fold(
        start(),
        ev.BlockStart(0, start_block),
        *(ev.BlockDelta(0, delta) for delta in deltas),
        ev.BlockStop(0),
    )
    return blocks[0]


def tool_block(*pieces):
    return block_of(
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}, *(ev.InputJsonDelta(p) for p in pieces)
    )


def test_text_is_joined():
    block = block_of({"type": "text", "text": ""}, ev.TextDelta("Hel"), ev.TextDelta("lo"))
    assert block.data == {"type": "text", "text": "Hello"}
    assert block.type == "text"


def test_text_that_the_start_holds_is_kept():
    assert block_of({"type": "text", "text": "a"}, ev.TextDelta("b")).data["text"] == "ab"


def test_citations_are_collected():
    block = block_of({"type": "text", "text": ""}, ev.TextDelta("x"), ev.CitationsDelta({"n": 1}))
    assert block.data == {"type": "text", "text": "x", "citations": [{"n": 1}]}


def test_thinking_keeps_its_signature():
    block = block_of(
        {"type": "thinking", "thinking": "", "signature": ""},
        ev.ThinkingDelta("h"),
        ev.ThinkingDelta("m"),
        ev.SignatureDelta("sig"),
    )
    assert block.data == {"type": "thinking", "thinking": "hm", "signature": "sig"}


@pytest.mark.parametrize(
    "data",
    [
        {"type": "redacted_thinking", "data": "secret"},
        {"type": "hologram", "depth": 3},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        {},
    ],
)
def test_blocks_that_need_no_folding_are_kept_as_they_are(data):
    assert block_of(data).data == data


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), st.lists(st.integers(0, 500)))
def test_tool_input_is_the_object_that_its_pieces_spell(value, cuts):
    text = json.dumps(value)
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    block = tool_block(*(text[a:b] for a, b in pairwise(edges)))
    assert block.data["input"] == json.loads(
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )
    assert block.unparsed is None


@pytest.mark.parametrize("pieces", [(), ("",), (" ",)])
def test_a_tool_call_without_arguments_has_an_empty_input(pieces):
    assert tool_block(*pieces).data == {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}


def test_a_tool_of_the_server_gets_its_input_too():
    block = block_of(
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        ev.InputJsonDelta('{"query": "x"}'),
    )
    assert block.data["input"] == {"query": "x"}


@pytest.mark.parametrize(
    "text",
    [
        '{"command": "echo 1", "desc',
        '{"command": "a\nb"}',
        "[1, 2]",
        '"text"',
        "{} {}",
        '{"a": 1e999}',
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_arguments_that_are_no_object_become_data_that_can_be_answered(text):
    block = tool_block(text[:5], text[5:])
    assert block.unparsed == text
    assert block.data["input"] == {UNPARSED_INPUT: {"raw": text, "len": len(text)}}
    msgspec.json.encode(block.data)


def test_half_a_surrogate_pair_in_arguments_is_replaced():
    block = tool_block(r'{"text": "a\ud83d', r'b"}')
    assert block.data["input"] == {"text": "a\ufffdb"}
    assert tool_block(r'{"text": "\ud83d', r'\ude00"}').data["input"] == {"text": "\U0001f600"}


def test_blocks_are_finished_in_the_order_of_their_stops():
    folded, blocks = fold(
        start(),
        ev.BlockStart(0, {"type": "text", "text": ""}),
        ev.BlockStart(1, {"type": "text", "text": ""}),
        ev.BlockDelta(1, ev.TextDelta("one")),
        ev.BlockDelta(0, ev.TextDelta("zero")),
        ev.BlockStop(1),
        ev.BlockStop(0),
    )
    assert [block.index for block in blocks] == [1, 0]
    assert folded.reply.content == [{"type": "text", "text": "one"}, {"type": "text", "text": "zero"}]


def test_the_usage_of_the_end_replaces_that_of_the_start_where_it_says_more():
    folded, _ = fold(
        start(cache_read_input_tokens=5),
        ev.MessageDelta(ev.MessageChange("end_turn"), {"input_tokens": 0, "output_tokens": 57}),
    )
    usage = folded.reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens) == (10, 57, 5)
    assert folded.reply.head["usage"]["output_tokens"] == 1
    assert folded.reply.stop_reason == "end_turn"


@pytest.mark.parametrize(
    "usage", [None, {}, {"output_tokens": None}, {"output_tokens": "many"}, {"output_tokens": -5}]
)
def test_a_usage_that_says_nothing_leaves_that_of_the_start(usage):
    folded, _ = fold(start(), ev.MessageDelta(ev.MessageChange(), usage))
    assert folded.reply.usage.output_tokens == 1


def test_arguments_that_are_null_are_none():
    assert (tool_block("null").data["input"], tool_block("null").unparsed) == ({}, None)


@pytest.mark.parametrize(
    "events",
    [
        [ev.BlockStart(0, {"type": "text", "text": ""})],
        [start(), ev.BlockDelta(0, ev.TextDelta("lost"))],
        [start(), ev.BlockStop(4)],
        [start(), ev.BlockStart(0, {"type": "text", "text": ""}), ev.BlockDelta(0, ev.InputJsonDelta("{}"))],
        [start(), ev.BlockStart(0, {"type": "tool_use", "name": "x"}), ev.BlockDelta(0, ev.TextDelta("{}"))],
    ],
)
def test_an_event_that_has_no_place_in_the_reply_spoils_it(events):
    with pytest.raises(ev.MalformedEventError):
        fold(*events)


def test_events_out_of_order_are_taken_as_far_as_they_make_sense():
    folded, blocks = fold(
        ev.MessageDelta(ev.MessageChange("end_turn"), None),
        ev.Ping(),
        ev.UnknownEvent("new"),
        start(),
    )
    assert blocks == []
    assert folded.reply.id == "msg_1"


def test_blocks_that_were_never_ended_are_ended_with_the_message():
    folded, blocks = fold(
        start(), ev.BlockStart(0, {"type": "text", "text": ""}), ev.BlockDelta(0, ev.TextDelta("x"))
    )
    assert blocks == []
    assert [block.data for block in folded.finish()] == [{"type": "text", "text": "x"}]
    assert folded.reply.complete
    assert folded.reply.open_blocks == []


def test_a_reply_that_broke_off_shows_what_had_come_and_estimates_what_it_cost():
    folded, _ = fold(
        start(),
        ev.BlockStart(0, {"type": "thinking", "thinking": "", "signature": ""}),
        ev.BlockDelta(0, ev.ThinkingDelta("hmm")),
        ev.BlockStop(0),
        ev.BlockStart(1, {"type": "text", "text": ""}),
        ev.BlockDelta(1, ev.TextDelta("Part of it")),
    )
    reply = folded.reply
    assert [block.data for block in reply.open_blocks] == [{"type": "text", "text": "Part of it"}]
    assert not reply.complete
    assert reply.usage.output_tokens == 1
    assert reply.spent.output_tokens == 4
    folded.feed(ev.BlockDelta(1, ev.TextDelta(", and more")))
    assert folded.reply.open_blocks[0].data["text"] == "Part of it, and more"


def test_a_message_in_one_piece_is_the_same_reply():
    message = {
        **START,
        "content": [
            {"type": "text", "text": "x"},
            {"type": "tool_use", "id": "t", "name": "B", "input": [1]},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    reply = reply_from_message(message)
    assert reply.complete
    assert not reply.streamed
    assert reply.content[0] == {"type": "text", "text": "x"}
    assert reply.blocks[1].unparsed == "[1]"
    assert (reply.stop_reason, reply.spent.output_tokens, reply.id, reply.model) == (
        "tool_use",
        4,
        "msg_1",
        "m",
    )


@pytest.mark.parametrize(
    "message", [{}, {"type": "error"}, {"type": "message"}, {"type": "message", "content": "x"}]
)
def test_what_is_no_message_is_no_reply(message):
    assert reply_from_message(message) is None
