"""What is said about summaries."""

import pytest

from claude_wrapper.agent.compaction.summary import (
    as_asked,
    carried_on,
    instruction,
    said_in,
    with_instruction,
)


@pytest.mark.parametrize(
    ("reply", "notes"),
    [
        ("<analysis>thoughts</analysis>\n<summary>\nnotes\n</summary> bye", "notes"),
        ("<summary>notes that broke o", "notes that broke o"),
        ("<analysis>thoughts</analysis> notes", "notes"),
        ("<analysis>thoughts that broke o", ""),
        ("notes", "notes"),
    ],
)
def test_the_notes_are_taken_out_of_a_reply(reply, notes):
    assert said_in(reply) == notes


def test_a_reply_has_the_form_that_was_asked_for_or_not():
    assert as_asked("<summary>notes</summary>")
    assert not as_asked("notes")


def test_wishes_are_asked_for():
    assert "keep names" in instruction(["keep names", "mind figures"])
    assert "mind figures" in instruction(["keep names", "mind figures"])
    assert len(instruction([])) < len(instruction([], again=True))


def test_the_message_says_where_the_whole_is_and_whether_anything_was_kept():
    whole = carried_on("notes", "/home/x.jsonl", kept=True)

    assert "notes" in whole
    assert "/home/x.jsonl" in whole
    assert len(carried_on("notes", "", kept=False)) < len(carried_on("notes", "", kept=True)) < len(whole)


def test_the_instruction_joins_the_users_words_and_changes_no_message():
    prompt = {"role": "user", "content": [{"type": "text", "text": "A"}]}
    reply = {"role": "assistant", "content": [{"type": "text", "text": "1"}]}

    assert [len(m["content"]) for m in with_instruction([prompt], "x")] == [2]
    assert [m["role"] for m in with_instruction([prompt, reply], "x")] == ["user", "assistant", "user"]
    assert len(prompt["content"]) == 1
