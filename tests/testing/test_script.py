import msgspec
import pytest

from claude_wrapper.testing import ModelRequest, Script, ScriptError, call, fail, say, turn
from claude_wrapper.testing.script import Ask, Message

PROMPT = Message("user", "Go")
REPLY = Message("assistant", "x")


RESULT = msgspec.convert({"role": "user", "content": [{"type": "tool_result", "content": "out"}]}, Message)
BLOCK_PROMPT = msgspec.convert(
    {"role": "user", "content": [{"type": "text", "text": "Go"}, {"type": "image"}]}, Message
)


def ask(*messages, tools=True):
    return Ask(messages=list(messages), tools=[msgspec.Raw(b"{}")] if tools else None)


def request(body=b"{}"):
    return ModelRequest("POST", "/v1/messages", [], body, 0.0)


def text(choice):
    return choice.answer.content[0]["text"]


THREE = [say("0"), say("1"), say("2")]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], "0"),
        ([PROMPT], "0"),
        ([PROMPT, REPLY, RESULT], "1"),
        ([PROMPT, REPLY, RESULT, REPLY, RESULT], "2"),
        ([PROMPT, REPLY, RESULT, REPLY, RESULT, REPLY, RESULT], "2"),
        ([PROMPT, REPLY, PROMPT], "0"),
        ([PROMPT, REPLY, BLOCK_PROMPT, REPLY, RESULT], "1"),
        ([REPLY, RESULT], "1"),
    ],
    ids=[
        "nothing",
        "prompt",
        "1-result",
        "2-results",
        "beyond-the-end",
        "second-prompt",
        "blocks",
        "no-prompt",
    ],
)
def test_the_turn_is_the_number_of_replies_since_the_newest_prompt(messages, expected):
    assert text(Script(THREE).choose(ask(*messages), request())) == expected


def test_counting_all_replies_goes_on_over_prompts():
    script = Script(THREE, count_all=True)
    assert text(script.choose(ask(PROMPT, REPLY, PROMPT), request())) == "1"


def test_the_same_request_gets_the_same_turn_again():
    script = Script(THREE)
    assert [text(script.choose(ask(PROMPT), request())) for _ in range(3)] == ["0", "0", "0"]


def test_a_marker_in_the_first_two_messages_leads_to_its_own_list():
    script = Script(THREE, sub={"SUBTASK": [say("sub")]})
    marked = Message("user", "SUBTASK: count")
    assert text(script.choose(ask(marked), request())) == "sub"
    assert text(script.choose(ask(PROMPT, marked), request())) == "sub"
    assert text(script.choose(ask(PROMPT, REPLY, marked), request())) == "0"
    assert script.choose(ask(marked), request()).list_name == "SUBTASK"


def test_a_request_without_tools_is_a_side_request_and_gets_ok():
    choice = Script(THREE).choose(ask(PROMPT, tools=False), request())
    assert (choice.kind, text(choice)) == ("side", "ok")


def test_a_side_request_with_a_marker_takes_the_next_turn_of_its_list():
    script = Script(side={"title": [say("A"), say("B")]})
    asked = [script.choose(ask(PROMPT, tools=False), request(b'{"system":"a title"}')) for _ in range(3)]
    assert [text(choice) for choice in asked] == ["A", "B", "ok"]


def test_a_toolless_script_plays_for_requests_without_tools():
    choice = Script(THREE, toolless=True).choose(ask(PROMPT, REPLY, RESULT, tools=False), request())
    assert (choice.kind, text(choice)) == ("turn", "1")


def test_in_queue_order_each_request_takes_the_next_turn_until_none_is_left():
    script = Script(THREE, order="queue")
    assert [text(script.choose(ask(PROMPT), request())) for _ in range(3)] == ["0", "1", "2"]
    assert script.choose(ask(PROMPT), request()).answer is None


@pytest.mark.parametrize("order", ["history", "queue"])
def test_failures_come_before_the_reply_as_often_as_they_say(order):
    script = Script([fail(529, times=2), fail(500), say("ok")], order=order)
    answers = [script.choose(ask(PROMPT), request()).answer for _ in range(4)]
    assert [answer.status for answer in answers[:3]] == [529, 529, 500]
    assert answers[3].content[0]["text"] == "ok"


def test_a_failure_for_ever_is_a_turn_of_its_own_place():
    script = Script([call("Bash", command="ls"), fail(401, times=None)])
    assert script.choose(ask(PROMPT), request()).answer.content[0]["name"] == "Bash"
    statuses = [script.choose(ask(PROMPT, REPLY, RESULT), request()).answer.status for _ in range(5)]
    assert statuses == [401] * 5


def test_a_failure_with_nothing_behind_it_is_repeated_by_history_and_used_up_in_a_queue():
    by_history = Script([fail(500)])
    assert [by_history.choose(ask(PROMPT), request()).answer.status for _ in range(3)] == [500] * 3
    queue = Script([fail(500)], order="queue")
    assert queue.choose(ask(PROMPT), request()).answer.status == 500
    assert queue.choose(ask(PROMPT), request()).answer is None


def test_a_function_makes_the_turn_from_the_request():
    script = Script([lambda asked: say(asked.body["model"])])
    assert text(script.choose(ask(PROMPT), request(b'{"model":"m-1"}'))) == "m-1"


def test_a_function_that_makes_no_turn_is_an_error():
    with pytest.raises(ScriptError, match="str"):
        Script([str]).choose(ask(PROMPT), request())


def test_an_empty_list_has_no_answer():
    assert Script([]).choose(ask(PROMPT), request()).answer is None


def test_an_empty_reply_is_an_answer():
    assert Script([turn()]).choose(ask(PROMPT), request()).answer.content == ()
