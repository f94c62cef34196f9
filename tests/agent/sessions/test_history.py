"""The history that the model gets: merged, in order, complete."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.sessions.history import History, history_of
from claude_wrapper.store.entries import StoredEntry


def text(value):
    return {"type": "text", "text": value}


def use(call):
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {}}


def result(call):
    return {"type": "tool_result", "tool_use_id": call, "content": call}


def test_neighbours_in_one_role_are_one_message():
    history = History()
    history.add_user([text("a")])
    history.add_user([text("b")])
    history.add_reply_block(text("c"))
    history.add_reply_block(use("1"))

    assert [(m["role"], len(m["content"])) for m in history.messages] == [("user", 2), ("assistant", 2)]


def test_empty_texts_are_left_out_since_the_api_refuses_them():
    history = History()
    history.add_user([text("a")])
    history.add_reply_block(text("  "))

    assert len(history) == 1


def test_repair_gives_every_call_its_result_in_order_and_drops_strays():
    history = History()
    history.add_user([text("a"), result("stray")])
    for call in "123":
        history.add_reply_block(use(call))
    history.add_user([text("note"), result("3"), result("1")])
    history.add_reply_block(use("4"))
    history.repair()

    first, _, answers, _, last = (m["content"] for m in history.messages)
    assert first == [text("a")]
    assert [b.get("tool_use_id") for b in answers] == ["1", "2", "3", None]
    assert [b.get("is_error", False) for b in answers[:3]] == [False, True, False]
    assert [b["tool_use_id"] for b in last] == ["4"]


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("A1B2C", "ABC12"),
        ("1h", "h1"),
        ("h1B", "hB1"),
        ("h1i2B", "h1i2B"),
        ("1h2i", "h12i"),
        ("h1Ai2B", "hAiB12"),
        ("hi1B", "hiB1"),
    ],
)
def test_calls_go_behind_the_rest_of_a_reply_unless_thinking_stands_between_them(said, sent):
    history = History()
    history.add_user([text("a")])
    for letter in said:
        if letter.isupper():
            history.add_reply_block(text(letter))
        else:
            history.add_reply_block(use(letter) if letter.isdigit() else thought(letter))

    assert "".join(written(block) for block in history.messages[-1]["content"]) == sent


def thought(words):
    return {"type": "thinking", "thinking": words, "signature": "s"}


def written(block):
    return block.get("text") or block.get("thinking") or block["id"]


def test_a_reply_of_nothing_but_thinking_is_dropped_once_the_user_speaks():
    history = History()
    history.add_user([text("a")])
    history.add_reply_block(thought("h"))
    history.add_user([text("b")])

    assert history.messages == [{"role": "user", "content": [text("a"), text("b")]}]


def test_what_another_model_thought_is_left_out_and_comes_back_for_its_own():
    history = History()
    history.add_user([text("a")])
    history.add_reply_block(thought("h"), "one")
    history.add_reply_block(text("b"), "one")
    history.add_user([text("c")])
    history.add_reply_block(thought("i"), "two")

    def sent(model):
        messages = history.thoughts.readable(history.messages, model.__eq__)
        return ["".join(map(written, message["content"])) for message in messages]

    assert sent("one") == ["a", "hb", "c", "(no content)"]
    assert sent("two") == ["a", "b", "c", "i"]
    own = history.thoughts.readable(history.messages, "two".__eq__)
    assert own[1] is history.thoughts.readable(history.messages, "two".__eq__)[1]


def test_blocks_of_a_stored_reply_are_one_message_whatever_came_between_them():
    stored = [
        entry("user", "a"),
        entry("assistant", [use("1")], id="m"),
        entry("user", [result("1")]),
        entry("assistant", [text("b")], id="m"),
        entry("assistant", [text("c")], id="n"),
    ]

    roles = [(m["role"], len(m["content"])) for m in history_of(stored).messages]
    assert roles == [("user", 1), ("assistant", 2), ("user", 1), ("assistant", 1)]


def entry(kind, content, **fields):
    return StoredEntry(type=kind, message={"role": kind, "content": content, **fields})


def test_a_reply_that_broke_off_is_made_fit_to_be_sent_or_taken_back():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    search = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}

    def mended(*blocks):
        history = History()
        history.add_user([text("a")])
        for block in blocks:
            history.add_reply_block(block)
        history.mend_reply()
        history.repair()
        return [block["type"] for message in history.messages[1:] for block in message["content"]]

    assert mended(thinking) == []
    assert mended(thinking, text("b")) == ["thinking", "text"]
    assert mended(text("b"), search) == ["text"]
    assert mended(search) == ["text"]
    assert mended(search, found) == ["server_tool_use", "web_search_tool_result"]


def test_messages_that_the_agent_made_itself_are_not_for_the_model():
    stored = [
        entry("user", "hello"),
        entry("assistant", [text("API Error")], id="x", model="<synthetic>"),
        StoredEntry(type="system", subtype="compact_boundary"),
        entry("assistant", [text("hi")], id="m", model="claude"),
        entry("user", 7),
    ]

    assert history_of(stored).messages == [
        {"role": "user", "content": [text("hello")]},
        {"role": "assistant", "content": [text("hi")]},
    ]


said = st.tuples(st.just("assistant"), st.lists(st.sampled_from([text("t"), use("1"), use("2")]), max_size=3))
heard = st.tuples(
    st.just("user"), st.lists(st.sampled_from([text("t"), result("1"), result("2"), result("9")]), max_size=3)
)
steps = st.lists(said | heard, max_size=8)


@given(steps)
def test_whatever_was_stored_can_be_sent(stored):
    history = history_of(
        entry(kind, list(content), id=str(n), model="m") for n, (kind, content) in enumerate(stored)
    )

    messages = history.messages
    assert all(a["role"] != b["role"] for a, b in itertools.pairwise(messages))
    for index, message in enumerate(messages):
        calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        before = [b["id"] for b in messages[index - 1]["content"] if b["type"] == "tool_use"] if index else []
        assert results == before
        assert not calls or index + 1 < len(messages)
