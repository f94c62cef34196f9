"""Replies that break off at every place, and models that take over, as the whole agent deals with them."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel

MESSAGE = {
    "id": "msg_cut",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 100, "output_tokens": 1},
}
EVENTS = [
    ("message_start", {"message": MESSAGE}),
    ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
    ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "I look."}}),
    ("content_block_stop", {"index": 0}),
    (
        "content_block_start",
        {"index": 1, "content_block": {"type": "tool_use", "id": "toolu_cut", "name": "Bash", "input": {}}},
    ),
    (
        "content_block_delta",
        {"index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"command": "echo ran"}'}},
    ),
    ("content_block_stop", {"index": 1}),
    ("message_delta", {"delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
    ("message_stop", {}),
]
ENDS = {
    "close": "content-type: text/event-stream\r\nconnection: close\r\n\r\n{body}",
    "cut": "content-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n{body}",
}


def broken(count, how):
    body = "".join(
        f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n" for kind, fields in EVENTS[:count]
    )
    return {"whole": {"bare": True, "body": "HTTP/1.1 200 OK\r\n" + ENDS[how].format(body=body)}}


STREAM_OUT = ("-p", "Go", "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5")


@pytest.fixture
def run(workspace, tmp_path):
    """Answers one prompt; gives the frames and the requests."""

    def play(*turns, argv=()):
        script = tmp_path / "script.json"
        script.write_text(json.dumps({"order": "queue", "main": list(turns)}))
        with ScriptedModel(script) as model:
            words = (*STREAM_OUT, "--allowedTools", "Bash", *argv)
            done = workspace.run(model, *words, env={"CLAUDE_CODE_MAX_RETRIES": "1"})
            frames = [json.loads(line) for line in done[1].splitlines()]
            return frames, model.requests

    return play


@pytest.mark.feature("ENV-04")
@pytest.mark.parametrize("how", ["close", "cut"])
@pytest.mark.parametrize("count", range(len(EVENTS)))
def test_a_reply_may_break_off_anywhere(run, count, how):
    done = {"content": [{"type": "text", "text": "Done."}]}
    frames, requests = run(broken(count, how), done)
    result = frames[-1]
    assert (result["type"], result["is_error"], result["result"]) == ("result", False, "Done.")
    history = requests[-1].messages
    if count < 4:
        assert len(history) == 1
    elif count < 7:
        assert history[1]["content"] == [{"type": "text", "text": "I look."}]
    else:
        (answer,) = [block for block in history[2]["content"] if block["type"] == "tool_result"]
        assert (answer["tool_use_id"], answer["content"]) == ("toolu_cut", "ran")


@pytest.mark.feature("ENV-07")
def test_fallbacks_are_asked_in_order_each_with_its_own_thinking(run):
    fails = {"status": 500, "error": "api_error", "message": "Internal", "times": 1}
    done = {"content": [{"type": "text", "text": "Done."}]}
    frames, requests = run(
        fails, fails, done, argv=("--fallback-model", "claude-haiku-4-5,claude-opus-4-8,claude-sonnet-5")
    )
    assert [request.body["model"] for request in requests] == [
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
        "claude-opus-4-8",
    ]
    assert [request.body["thinking"]["type"] for request in requests] == ["enabled", "enabled", "adaptive"]
    assert [request.body.get("output_config") for request in requests] == [None, None, {"effort": "high"}]
    switches = [frame for frame in frames if frame.get("subtype") == "model_fallback"]
    assert [switch["trigger"] for switch in switches] == ["server_error", "server_error"]
    assert list(frames[-1]["modelUsage"]) == ["claude-opus-4-8"]


def test_a_call_without_id_and_name_is_answered_all_the_same(run):
    body = "".join(
        f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n" for kind, fields in EVENTS
    ).replace('"id": "toolu_cut", "name": "Bash", ', "")
    done = {"content": [{"type": "text", "text": "Done."}]}
    frames, requests = run({"whole": {"body": body}}, done)
    call = requests[-1].messages[1]["content"][1]
    (answer,) = requests[-1].tool_results
    assert answer["tool_use_id"] == call["id"] != ""
    assert answer["is_error"] is True
    assert frames[-1]["result"] == "Done."
