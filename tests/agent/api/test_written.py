"""Bodies of a conversation that grows are the same bytes, whether what was written before is kept or not."""

import json

import pytest
from msgspec.structs import replace

from claude_wrapper.agent.api.request import encode_body
from claude_wrapper.agent.api.written import WrittenMessages


def conversation(count):
    roles = ("user", "assistant")
    return [
        {"role": roles[n % 2], "content": [{"type": "text", "text": f"Message {n} \u00e9 \ud83d"}]}
        for n in range(count)
    ]


@pytest.fixture
def same(new_request):
    written = WrittenMessages()

    def check(messages, **fields):
        request = replace(new_request(), messages=messages, **fields)
        plain = encode_body(request)
        assert encode_body(replace(request, written=written)) == plain
        return json.loads(plain)["messages"]

    return check


def test_a_conversation_that_grows_is_written_as_if_for_the_first_time(same):
    messages = []
    for each in conversation(41):
        messages.append(each)
        same(messages)
    marked = [i for i, m in enumerate(same(messages)) if "cache_control" in m["content"][-1]]
    assert marked == [38, 40]


def test_an_end_that_changes_is_seen(same):
    messages = conversation(31)
    same(messages)
    messages[-1]["content"].append({"type": "text", "text": "and more"})
    same(messages)
    del messages[-2:]
    messages[-1] = {"role": "user", "content": [{"type": "text", "text": "instead"}]}
    same(messages)


@pytest.mark.parametrize("kept", [0, 1, 5, 20])
def test_another_conversation_is_written_from_its_beginning(same, kept):
    messages = conversation(40)
    same(messages)
    same([{"role": "user", "content": [{"type": "text", "text": "Summary"}]}, *messages[40 - kept :]])
    same(messages)


def test_a_question_aside_leaves_no_mark(same):
    messages = conversation(30)
    same(messages)
    same([*messages, {"role": "user", "content": [{"type": "text", "text": "Aside"}]}], aside=True)
    same([*messages, conversation(1)[0]])


def test_short_and_empty_conversations_and_plain_texts_are_written(same):
    same([])
    same(conversation(1))
    same([{"role": "user", "content": "Plain"}] * 20)
