import json

import pytest

from claude_wrapper.testing import block, call, cut, error_event, redacted, say, stall, think, turn
from claude_wrapper.testing.replies import Finish, Halt, Pause, events, framed, message_of


def played(written):
    """The steps, events decoded."""
    return [
        decoded(step) if isinstance(step, bytes) else step
        for step in events(written, message_of(written, "m"))
    ]


def decoded(step):
    name, data = step.decode().rstrip("\n").split("\n")
    value = json.loads(data.removeprefix("data: "))
    assert name == f"event: {value['type']}"
    return value


def folded(written):
    """The content that a client puts together from the events."""
    content = []
    for event in played(written):
        if event["type"] == "content_block_start":
            content.append({**event["content_block"], "_input": ""})
        elif event["type"] == "content_block_delta":
            fold(content[event["index"]], event["delta"])
        elif event["type"] == "content_block_stop" and content[-1]["_input"]:
            content[-1]["input"] = json.loads(content[-1]["_input"])
    return [{key: value for key, value in part.items() if key != "_input"} for part in content]


def fold(part, delta):
    kinds = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
    if delta["type"] == "input_json_delta":
        part["_input"] += delta["partial_json"]
    elif delta["type"] == "citations_delta":
        part["citations"].append(delta["citation"])
    else:
        part[kinds[delta["type"]]] += delta[kinds[delta["type"]]]


@pytest.mark.parametrize(
    "content",
    [
        {"type": "text", "text": "word " * 50},
        {"type": "text", "text": "\u2028 \U0001f600 é"},
        {"type": "text", "text": ""},
        {"type": "text", "text": "cited", "citations": [{"type": "char_location"}]},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "zzz"},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "echo é" * 30}},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []},
        {"type": "kind_of_the_future", "what": {"ever": 1}},
    ],
    ids=lambda content: content["type"],
)
def test_a_client_that_puts_the_events_together_has_the_block(content):
    assert folded(block(content)) == [content]


def test_the_events_come_in_the_order_of_the_api():
    kinds = [event["type"] for event in played(think("a") + say("b"))]
    assert kinds == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_text_is_cut_into_pieces_of_the_size_that_the_turn_sets():
    steps = played(turn(say("abcdefgh"), chunk=3))
    deltas = [event["delta"]["text"] for event in steps if event["type"] == "content_block_delta"]
    assert deltas == ["abc", "def", "gh"]


def test_usage_and_stop_reason_are_those_of_the_turn_or_the_usual():
    last = played(turn(say("a"), usage={"output_tokens": 7}, stop_reason="max_tokens"))[-2]
    assert (last["usage"]["output_tokens"], last["usage"]["input_tokens"]) == (7, 100)
    assert last["delta"]["stop_reason"] == "max_tokens"
    assert message_of(say("a"), "m")["stop_reason"] == "end_turn"
    assert message_of(say("a") + call("Bash"), "m")["stop_reason"] == "tool_use"


def test_ids_are_new_in_each_reply():
    written = call("Bash", command="echo $ID")
    first, second = message_of(written, "m"), message_of(written, "m")
    assert first["id"] != second["id"]
    assert first["content"][0]["id"] != second["content"][0]["id"]
    assert first["content"][0]["input"] != second["content"][0]["input"]


def test_one_reply_uses_one_id_for_all_its_marks():
    one, two = message_of(call("A", x="$ID") + call("B", x="$ID"), "m")["content"]
    assert one["input"] == two["input"] != {"x": "$ID"}


def test_a_given_tool_use_id_is_kept():
    assert message_of(call("Bash", tool_use_id="toolu_7"), "m")["content"][0]["id"] == "toolu_7"


def test_a_cut_ends_the_reply_before_the_end_of_its_block():
    *before, last = played(say("a") + say("b") + cut(after_block=0))
    assert last == Finish("close")
    assert [event["type"] for event in before] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
    ]


def test_a_cut_without_blocks_comes_right_after_the_start():
    assert [step if isinstance(step, Finish) else step["type"] for step in played(cut(reset=True))] == [
        "message_start",
        Finish("reset"),
    ]


def test_an_error_event_is_the_last_of_its_stream():
    last = played(say("a") + error_event("api_error", "tired"))[-1]
    assert last == {"type": "error", "error": {"type": "api_error", "message": "tired"}}


def test_a_stall_stands_between_two_blocks_or_within_one():
    between = played(say("a") + stall("g") + say("b"))
    assert between[between.index(Halt("g")) - 1]["type"] == "content_block_stop"
    within = played(turn(say("abcdef") + stall("g", after_chunks=1), chunk=3))
    place = within.index(Halt("g"))
    assert [within[place - 1]["delta"]["text"], within[place + 1]["delta"]["text"]] == ["abc", "def"]


def test_a_stall_before_the_first_piece_comes_after_the_start_of_the_block():
    steps = played(say("abc") + stall("g", after_chunks=0))
    assert steps[steps.index(Halt("g")) - 1]["type"] == "content_block_start"


def test_a_stall_after_more_pieces_than_there_are_comes_at_the_end_of_the_block():
    steps = played(say("abc") + stall("g", after_chunks=9))
    assert steps[steps.index(Halt("g")) + 1]["type"] == "content_block_stop"


def test_a_slow_turn_pauses_after_each_piece_of_text():
    steps = played(turn(say("abcd"), chunk=2, chunk_delay=0.5))
    assert steps.count(Pause(0.5)) == 2


def test_framing_joins_what_is_sent_at_once_and_marks_the_end():
    steps = [b"a", b"b", Halt("g"), b"c"]
    assert list(framed(iter(steps), lambda data: b"<%b>" % data)) == [b"<ab>", Halt("g"), b"<c>", b"<>"]


def test_a_lone_surrogate_of_the_model_goes_out_as_its_escape():
    data = b"".join(
        step for step in events(say("a\ud83d"), message_of(say("a\ud83d"), "m")) if isinstance(step, bytes)
    )
    assert rb"a\ud83d" in data


def test_redacted_thinking_is_sent_whole_in_its_start():
    start = played(redacted("zzz"))[1]
    assert start["content_block"] == {"type": "redacted_thinking", "data": "zzz"}


def test_the_input_of_a_call_is_written_as_models_write_it():
    pieces = [
        event["delta"]["partial_json"]
        for event in played(call("A", x=[1, 2], y="é"))
        if event["type"] == "content_block_delta"
    ]
    assert "".join(pieces) == '{"x": [1, 2], "y": "é"}'


def test_a_lone_surrogate_in_the_input_of_a_call_goes_out_as_its_escape():
    start = played(call("A", x="\ud83d"))[2]
    assert start["delta"]["partial_json"] == r'{"x":"\ud83d"}'
