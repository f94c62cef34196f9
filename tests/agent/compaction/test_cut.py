"""Where a conversation is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.compaction.cut import cut, cut_when_too_long, shorter, too_little


def user(text):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def said(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def called(name):
    return {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "Bash", "input": {}}]}


def result(name):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": name}]}


def names(messages):
    return [
        block.get("text") or block.get("id") or block["content"] for m in messages for block in m["content"]
    ]


@pytest.mark.parametrize(
    ("messages", "summed", "kept"),
    [
        ([user("A"), said("1")], "A 1", ""),
        ([user("A"), said("1"), user("B"), said("2")], "A 1 B 2", "2"),
        ([user("A"), said("1"), user("B"), said("2"), user("C")], "A 1 B 2", "2 C"),
        ([user("A"), said("1"), user("B"), called("c"), result("c"), said("2")], "A 1 B c c", "2"),
        ([user("A"), called("a"), result("a"), called("b"), result("b")], "A a a", "b b"),
        ([user("A"), said("1"), user("B"), called("b"), result("b")], "A 1 B b b", "b b"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_newest_reply_is_kept_and_no_prompt_stands_unanswered(messages, summed, kept):
    part = cut(messages)

    assert names(part.summed) == summed.split()
    assert names(messages[part.kept :]) == kept.split()


def test_where_nothing_was_said_nothing_is_summed_up():
    assert cut([]) is None
    assert cut([user("A")]) is None
    assert cut_when_too_long([user("A")]) is None


def test_everything_is_summed_up_on_demand():
    messages = [user("A"), said("1"), user("B"), said("2")]

    assert cut(messages, keep=False).kept == len(messages)


def test_what_was_too_long_is_summed_up_without_its_end():
    messages = [user("A"), said("1"), user("B"), said("2"), user("C")]
    part, short = cut_when_too_long(messages), cut_when_too_long(messages[:3])

    assert (names(part.summed), names(messages[part.kept :])) == (["A", "1", "B"], ["2", "C"])
    assert (names(short.summed), names(messages[short.kept : 3])) == (["A", "1"], ["B"])


def test_fewer_than_three_rounds_are_too_little():
    assert too_little([user("A"), called("a"), result("a")])
    assert not too_little([user("A"), said("1"), user("B"), said("2")])


def test_the_older_half_is_left_out_and_then_what_is_left_of_it():
    messages = [user("A"), said("1"), user("B"), called("b"), result("b"), said("2"), user("C"), said("3")]
    half = shorter(messages)

    assert names(half) == ["C", "3"]
    assert shorter(half) is None
    assert shorter([user("A")]) is None


@st.composite
def conversations(draw):
    messages = [user("0")]
    for index in range(1, draw(st.integers(1, 8))):
        if draw(st.booleans()):
            messages += [called(f"{index}"), result(f"{index}")]
        else:
            messages += [said(f"{index}"), user(f"{index}")]
    return messages + draw(st.sampled_from([[], [said("end")]]))


@given(conversations())
def test_no_cut_parts_a_call_from_its_result_or_loses_a_message(messages):
    for part in (cut(messages), cut(messages, keep=False), cut_when_too_long(messages)):
        if part is None:
            continue
        for half in (part.summed, part.least, messages[part.kept :]):
            calls = [b["id"] for m in half for b in m["content"] if b["type"] == "tool_use"]
            results = [b["tool_use_id"] for m in half for b in m["content"] if b["type"] == "tool_result"]
            assert calls == results
        assert messages[: len(part.summed)] == part.summed
        assert len(part.summed) >= part.kept
    left = messages
    while (left := shorter(left)) is not None:
        assert left[0]["role"] == "user"
        assert left == messages[-len(left) :]
