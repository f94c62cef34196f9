"""Replies that are malformed in every way: the model or the user learns of it, and the session goes on."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel

GOOD = '{"command": "echo one", "description": "Say"}'
HEAD = {
    "id": "msg_bad",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 100, "output_tokens": 1},
}
MARK = "\ufeff"


def event(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


def begin(**fields):
    return event("message_start", message={**HEAD, **fields})


def delta(index, **fields):
    return event("content_block_delta", index=index, delta=fields)


def block(index, start, *deltas):
    return [
        event("content_block_start", index=index, content_block=start),
        *(delta(index, **each) for each in deltas),
        event("content_block_stop", index=index),
    ]


def text(index=0, said="Hello"):
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": said})


def tool(*pieces, index=0, **start):
    known = {"type": "tool_use", "id": f"toolu_{index}", "name": "Bash", "input": {}, **start}
    return block(index, known, *({"type": "input_json_delta", "partial_json": piece} for piece in pieces))


def end(stop="end_turn", usage=None):
    change = event("message_delta", delta={"stop_reason": stop}, usage=usage or {"output_tokens": 20})
    return [change, event("message_stop")]


def half(escape, index=0):
    said = '{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":"%s"}}'
    return "data: " + said % (index, escape) + "\n\n"


PLAIN = "".join([begin(), *text(), *end()])
LINES = (
    '{"type":"content_block_delta","index":0,\ndata: "delta":{"type":"text_delta",\ndata: "text":"Hello"}}'
)
DONE = event("message_stop")
HELLO = ["text:Hello"]
NEXT = ["text:Next."]
CALL = ["call:Bash"]

WHOLE = {
    "an event that is null": [begin(), "data: null\n\n", *text(), *end()],
    "an event that is a list": [begin(), *text()[:2], "data: [1]\n\n", text()[2], *end()],
    "an event of no type": [begin(), 'data: {"sun": 1}\n\n', *text(), *end()],
    "an event of a new type": [begin(), event("weather", sun=1), *text(), *end()],
    "a delta of a new type": [begin(), text()[0], delta(0, type="sparkle"), *text()[1:], *end()],
    "a second start": [begin(), begin(id="msg_2"), *text(), *end()],
    "no end of the block": [begin(), *text()[:2], *end()],
    "no end of the message": [begin(), *text(), end()[0]],
    "no reason to stop": [begin(), *text(), DONE],
    "no id": [begin(id=None), *text(), *end()],
    "no usage": [begin(usage=None), *text(), *end()],
    "usage of texts": [begin(usage={"input_tokens": "many"}), *text(), *end(usage={"output_tokens": "x"})],
    "usage below zero": [begin(usage={"input_tokens": -5}), *text(), *end(usage={"output_tokens": -5})],
    "text at the start": [begin(content=[{"type": "text", "text": "early"}]), *text(), *end()],
    "blocks of empty text": [begin(), *text(0, ""), *text(1), *text(2, ""), *end()],
    "an index that is a text": [begin(), *(e.replace('"index": 0', '"index": "0"') for e in text()), *end()],
    "no index": [begin(), *(e.replace('"index": 0, ', "") for e in text()), *end()],
    "more after the end": [PLAIN, *text(1, "late")],
    "lines that end in CRLF": [PLAIN.replace("\n", "\r\n")],
    "lines that end in CR": [PLAIN.replace("\n", "\r")],
    "a byte order mark": [MARK + PLAIN],
    "comments": [": hello\n\n", PLAIN.replace("\n\n", "\n\n: more\nretry: 5\nid: 7\n\n")],
    "data of several lines": [begin(), text()[0], f"data: {LINES}\n\n", text()[2], *end()],
    "a name and no data": ["event: ping\n\n", PLAIN],
}
"""What is a reply all the same."""

AGAIN = {
    "a delta of no block": [
        begin(),
        text()[0],
        delta(7, type="text_delta", text="lost"),
        *text()[1:],
        *end(),
    ],
    "an end of no block": [begin(), event("content_block_stop", index=9), *text(), *end()],
    "an event cut off": [begin(), text()[0], 'data: {"type":"content_block_delta","ind\n\n', *text()[1:]],
    "a block that is null": [begin(), *block(0, None), *text(1), *end()],
    "a block that says nothing": [begin(), event("content_block_start", index=0), *end()],
    "a delta that is null": [
        begin(),
        text()[0],
        event("content_block_delta", index=0, delta=None),
        *text()[1:],
    ],
    "text for a call": [begin(), tool()[0], delta(0, type="text_delta", text="x"), *tool(GOOD)[1:], *end()],
    "arguments for a text": [
        begin(),
        text()[0],
        delta(0, type="input_json_delta", partial_json="{}"),
        *end(),
    ],
    "no start": [*text(), *end()],
    "nothing": [""],
    "an error in the middle": [
        begin(),
        *text()[:2],
        event("error", error={"type": "api_error", "message": "No"}),
    ],
    "words that are no event": ["Good morning\n\n"],
}
"""What is asked for once more."""

CALLS = {
    "cut off": ([begin(), *tool('{"command": "ec'), *end("tool_use")], "no JSON object"),
    "a list": ([begin(), *tool("[1, 2]"), *end("tool_use")], "no JSON object"),
    "a number": ([begin(), *tool("17"), *end("tool_use")], "no JSON object"),
    "more behind it": ([begin(), *tool(GOOD + " and"), *end("tool_use")], "no JSON object"),
    "null": ([begin(), *tool("null"), *end("tool_use")], "`command` is missing"),
    "nothing": ([begin(), *tool(), *end("tool_use")], "`command` is missing"),
    "of a wrong type": ([begin(), *tool('{"command": 5}'), *end("tool_use")], "InputValidationError"),
    "an unknown tool": ([begin(), *tool("{}", name="Teleport"), *end("tool_use")], "No such tool available"),
    "no tool": ([begin(), *tool(GOOD, name=None), *end("tool_use")], "No such tool available"),
    "at the start": ([begin(), *tool(input=json.loads(GOOD)), *end("tool_use")], "one"),
    "no reason to stop": ([begin(), *tool(GOOD), DONE], "one"),
    "another reason to stop": ([begin(), *tool(GOOD), *end()], "one"),
    "no id": ([begin(), *tool(GOOD, id=None), *end("tool_use")], "one"),
}
"""Calls, and what their results say."""


@pytest.fixture
def talk_about(workspace, tmp_path):
    """A session in which each reply of a list is the first answer to a prompt, and a plain one the last."""

    def start(replies, spare, first):
        script = tmp_path / "script.json"
        turns = [{"whole": {"body": each}} for each in first]
        for reply in replies:
            turns.append({"whole": {"body": "".join(reply)}})
            turns += [{"content": [{"type": "text", "text": "Next."}]}] * spare
        script.write_text(json.dumps({"order": "queue", "main": turns}))
        return script

    def play(replies, *, spare=0, first=()):
        with ScriptedModel(start(replies.values(), spare, first)) as model:
            talk = workspace.talk(model, "--allowedTools", "Bash", env={"CLAUDE_CODE_MAX_RETRIES": "1"})
            said = {}
            for name in replies:
                before = len(talk.frames)
                talk.prompt(f"Tell me of {name}")
                said[name] = (talk.result(), talk.frames[before:])
            assert talk.close() == 0
            return said, model.requests

    return play


def spoken(frames):
    return [
        block["type"] + ":" + block["text"]
        for frame in frames
        if frame["type"] == "assistant"
        for block in frame["message"]["content"]
        if block["type"] == "text"
    ]


def test_what_can_be_understood_is_a_reply(talk_about):
    said, requests = talk_about(WHOLE)
    assert {name: spoken(frames) for name, (_, frames) in said.items()} == dict.fromkeys(WHOLE, HELLO)
    ends = {(r["subtype"], r["is_error"], r["terminal_reason"], r["result"]) for r, _ in said.values()}
    assert ends == {("success", False, "completed", "Hello")}
    assert len(requests) == len(WHOLE)


@pytest.mark.feature("ENV-04")
def test_what_lost_something_is_asked_for_once_more(talk_about):
    said, requests = talk_about(AGAIN, spare=1)
    assert {name: spoken(frames) for name, (_, frames) in said.items()} == dict.fromkeys(AGAIN, NEXT)
    ends = {(r["subtype"], r["is_error"], r["terminal_reason"], r["result"]) for r, _ in said.values()}
    assert ends == {("success", False, "completed", "Next.")}
    assert len(requests) == 2 * len(AGAIN)


@pytest.mark.feature("LOOP-07")
def test_calls_that_are_malformed_are_answered_and_those_that_are_not_are_run(talk_about):
    said, _ = talk_about({name: reply for name, (reply, _) in CALLS.items()}, spare=1)
    for name, (result, frames) in said.items():
        answers = [
            str(block["content"])
            for frame in frames
            if frame["type"] == "user"
            for block in frame["message"]["content"]
            if block["type"] == "tool_result"
        ]
        assert len(answers) == 1, name
        assert CALLS[name][1] in answers[0], name
        assert (result["subtype"], result["result"], result["num_turns"]) == ("success", "Next.", 2), name


def test_a_character_in_two_pieces_is_one(talk_about):
    pieces = [half("a\\ud83d"), half("\\ude00b")]
    said, _ = talk_about({"it": [begin(), text()[0], *pieces, text()[2], *end()]})
    assert said["it"][0]["result"] == "a\U0001f600b"


def test_a_reply_of_a_server_that_never_makes_sense_ends_the_turn_with_an_error(talk_about):
    said, requests = talk_about({"it": ["Good morning\n\n"], "then": [PLAIN]}, first=["x"])
    result = said["it"][0]
    assert (result["subtype"], result["is_error"], result["terminal_reason"]) == (
        "success",
        True,
        "api_error",
    )
    assert said["then"][0]["result"] == "Hello"
    assert len(requests) == 3
