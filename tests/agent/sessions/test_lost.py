"""Commands in the background of whose end a transcript says nothing."""

import pytest

from claude_wrapper.agent.sessions.lost import LostCommand, lost_in
from claude_wrapper.store.entries import StoredEntry


def call(call_id="t1", name="Bash", **fields):
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {"command": "sleep 9", **fields}}
    return StoredEntry(type="assistant", message={"content": [block]})


def result(text, call_id="t1"):
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return StoredEntry(type="user", message={"content": [block]})


def told(text, **fields):
    return StoredEntry(type="user", message={"content": text}, **fields)


BEGUN = "Command running in background with ID: b12345678. Output is being written to: /x."
LOST = [LostCommand("b12345678", "t1", "sleep 9")]


@pytest.mark.parametrize(
    "text",
    [
        BEGUN,
        "Command was manually backgrounded by user with ID: b12345678. Output is being written to: /x.",
        "so far\nCommand did not complete within its 2s timeout and was moved to the background (ID: b12345678). It",
    ],
)
def test_one_that_was_begun_is_lost(text):
    assert lost_in([call(), result(text)]) == LOST


def test_it_is_known_by_its_description():
    assert lost_in([call(description="Wait"), result(BEGUN)])[0].description == "Wait"


@pytest.mark.parametrize(
    "end",
    [
        told("<task-notification>\n<task-id>b12345678</task-id>"),
        told([{"type": "text", "text": "x <task-id>b12345678</task-id>"}]),
        result('{"message":"Successfully stopped task: b12345678 (sleep 9)"}', "t2"),
        StoredEntry(type="attachment", attachment={"prompt": "<task-id>b12345678</task-id>"}),
    ],
)
def test_one_whose_end_was_told_is_not(end):
    assert lost_in([call(), result(BEGUN), end]) == []


def test_what_a_command_prints_begins_nothing():
    assert lost_in([call(), result(f"look: {BEGUN}")]) == []
    assert lost_in([call(name="Read"), result(BEGUN)]) == []
