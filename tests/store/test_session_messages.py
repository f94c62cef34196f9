"""Reading the messages of sessions and of their subagents."""

import dataclasses

import pytest

from claude_wrapper import (
    SessionMessage,
    get_session_messages,
    get_subagent_messages,
    list_subagents,
)


@pytest.fixture
def shown(transcripts, numbers):
    """Which entries of a transcript are shown, in order."""

    def shown(*entries, **page):
        transcripts.write(*entries)
        return numbers(get_session_messages(transcripts.session, str(transcripts.project), **page))

    return shown


@pytest.mark.feature("SESS-12")
def test_messages_carry_what_was_said(transcripts):
    prompt, reply = transcripts.user(1), transcripts.assistant(2, 1)
    transcripts.write(prompt, reply)

    first, second = get_session_messages(transcripts.session)

    assert first == SessionMessage("user", prompt["uuid"], transcripts.session, prompt["message"])
    assert dataclasses.asdict(second) == {
        "type": "assistant",
        "uuid": reply["uuid"],
        "session_id": transcripts.session,
        "message": reply["message"],
        "parent_tool_use_id": None,
        "parent_agent_id": None,
    }


def test_entries_that_are_no_messages_link_the_others_and_are_not_shown(shown, transcripts):
    t = transcripts

    assert shown(
        t.user(1),
        t.note(2, 1, "attachment"),
        t.note(3, 2, "progress"),
        t.assistant(4, 3),
        t.user(5, 4, "note of the agent", isMeta=True),
        t.note(6, 5, "system"),
        t.user(7, 6),
        {"type": "last-prompt", "lastPrompt": "x", "leafUuid": t.id(1)},
    ) == [1, 4, 7]


def test_only_the_newest_branch_is_shown(shown, transcripts):
    t = transcripts

    assert shown(t.user(1), t.assistant(2, 1), t.user(3, 1), t.assistant(4, 3)) == [1, 3, 4]
    assert shown(t.user(1), t.assistant(2, 1), t.user(3, 1), t.assistant(4, 2)) == [1, 2, 4]


def test_a_late_note_on_an_older_branch_does_not_make_it_the_newest(shown, transcripts):
    t = transcripts

    assert shown(t.user(1), t.assistant(2, 1), t.note(3, 1, "progress")) == [1, 2]


def test_messages_of_subagents_and_teammates_are_not_shown(shown, transcripts):
    t = transcripts

    assert shown(
        t.user(1), t.assistant(2, 1), t.user(3, 2, isSidechain=True), t.user(4, 2, teamName="team")
    ) == [1, 2]


def test_a_branch_that_others_end_is_not_the_newest(shown, transcripts):
    t = transcripts

    for flag in ({"isSidechain": True}, {"isMeta": True}, {"teamName": "team"}):
        assert shown(t.user(1), t.assistant(2, 1), t.user(3, 1, **flag)) == [1, 2]


@pytest.mark.feature("SESS-12")
def test_a_compacted_session_is_shown_from_its_compaction_on(shown, transcripts):
    t = transcripts
    border = t.note(3, None, "system", subtype="compact_boundary", logicalParentUuid=t.id(2))

    assert shown(
        t.user(1),
        t.assistant(2, 1),
        border,
        t.user(4, 3, "summary", isCompactSummary=True),
        t.assistant(5, 4),
    ) == [4, 5]


def test_results_of_tools_that_ran_side_by_side_are_all_shown(shown, transcripts):
    t = transcripts
    calls = t.user(1), t.call(2, 1, "a"), t.call(3, 2, "b")

    assert shown(*calls, t.tool_result(4, 2, "a"), t.tool_result(5, 3, "b"), t.assistant(6, 5)) == [
        1, 2, 3, 4, 5, 6,
    ]  # fmt: skip
    assert shown(*calls, t.tool_result(4, 3, "b"), t.tool_result(5, 2, "a"), t.assistant(6, 5)) == [
        1, 2, 3, 4, 5, 6,
    ]  # fmt: skip


def test_a_result_is_found_by_the_call_it_names_where_it_hangs_elsewhere(shown, transcripts):
    t = transcripts

    assert shown(
        t.user(1),
        t.call(2, 1, "a"),
        t.call(3, 2, "b"),
        t.tool_result(4, 1, "a", sourceToolAssistantUUID=t.id(2)),
        t.tool_result(5, 3, "b"),
        t.assistant(6, 5),
    ) == [1, 2, 3, 4, 5, 6]


def test_results_of_another_branch_stay_there(shown, transcripts):
    t = transcripts

    assert shown(t.user(1), t.call(2, 1, "a"), t.tool_result(3, 2, "a"), t.user(4, 1)) == [1, 4]


def test_a_chain_that_leads_nowhere_is_shown_as_far_as_it_goes(shown, transcripts):
    t = transcripts

    assert shown(t.user(1), t.assistant(2, 99)) == [2]
    assert shown(t.user(1, 2), t.assistant(2, 1)) == [1, 2]
    assert shown(t.user(1, 1)) == [1]


PAGES = [
    ({"limit": 2}, [1, 2]),
    ({"limit": 2, "offset": 3}, [4, 5]),
    ({"offset": 4}, [5]),
    ({"offset": 9}, []),
    ({"limit": 0, "offset": -3}, [1, 2, 3, 4, 5]),
]


@pytest.mark.parametrize(("page", "expected"), PAGES)
def test_messages_come_in_pages(page, expected, shown, transcripts):
    entries = [transcripts.user(1), *(transcripts.assistant(i, i - 1) for i in range(2, 6))]

    assert shown(*entries, **page) == expected


def test_an_unknown_session_has_no_messages(transcripts):
    assert get_session_messages("x") == get_session_messages(transcripts.session) == []


# -- subagents


def test_subagents_are_listed_wherever_they_were_started(transcripts):
    transcripts.write(transcripts.user(1))
    transcripts.write_subagent("b2", transcripts.user(2))
    transcripts.write_subagent("a1", transcripts.user(2))
    transcripts.write_subagent("c3", transcripts.user(2), below="subagents/workflow/run")
    (transcripts.folder / transcripts.session / "subagents" / "other.jsonl").write_text("x")

    assert list_subagents(transcripts.session, str(transcripts.project)) == ["a1", "b2", "c3"]


@pytest.mark.feature("SESS-12")
def test_messages_of_a_subagent_name_what_began_it(transcripts, numbers):
    t = transcripts
    t.write(t.user(1))
    own = {"isSidechain": True, "agentId": "a1"}
    t.write_subagent(
        "a1",
        t.user(2, **own),
        t.assistant(3, 2, **own),
        t.user(4, 3, isMeta=True, **own),
        metadata='{"toolUseId": "call", "parentAgentId": "parent", "agentType": "x"}',
    )

    messages = get_subagent_messages(t.session, "a1")

    assert numbers(messages) == [2, 3, 4]
    assert {(m.parent_tool_use_id, m.parent_agent_id) for m in messages} == {("call", "parent")}
    assert numbers(get_subagent_messages(t.session, "a1", limit=1, offset=1)) == [3]


@pytest.mark.parametrize("metadata", [None, "", "[]", '{"toolUseId": 5}', '{"toolUseId"'])
def test_a_subagent_without_readable_metadata_is_read(metadata, transcripts):
    transcripts.write(transcripts.user(1))
    transcripts.write_subagent("a1", transcripts.user(2), metadata=metadata)

    (message,) = get_subagent_messages(transcripts.session, "a1")

    assert (message.parent_tool_use_id, message.parent_agent_id) == (None, None)


def test_results_of_a_subagents_parallel_calls_are_all_shown(transcripts, numbers):
    t = transcripts
    t.write(t.user(1))
    t.write_subagent(
        "a1",
        t.user(1),
        t.call(2, 1, "a"),
        t.call(3, 2, "b"),
        t.tool_result(4, 2, "a"),
        t.tool_result(5, 3, "b"),
        t.assistant(6, 5),
    )

    assert numbers(get_subagent_messages(t.session, "a1")) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("agent_id", ["", "x", "../a1", "a1/../a1", "*"])
def test_an_unknown_subagent_has_no_messages(agent_id, transcripts):
    transcripts.write(transcripts.user(1))
    transcripts.write_subagent("a1", transcripts.user(2))

    assert get_subagent_messages(transcripts.session, agent_id) == []
    assert get_subagent_messages("x", "a1") == []


def test_a_session_without_subagents_has_none(transcripts):
    transcripts.write(transcripts.user(1))

    assert list_subagents(transcripts.session) == []
    assert list_subagents("x") == []


def test_a_reply_whose_end_was_written_behind_its_blocks_is_shown_with_its_end(transcripts):
    t = transcripts
    end = {"type": "reply-end", "sessionId": t.session, "messageId": "m", "stopReason": "end_turn"}
    reply = t.assistant(2, 1, message_id="m")
    reply["message"] |= {"stop_reason": None, "usage": {"output_tokens": 1}}
    t.write(t.user(1), reply, end | {"usage": {"output_tokens": 20}}, t.assistant(3, 2, message_id="n"))

    _, first, second = get_session_messages(t.session)

    assert first.message == reply["message"] | {"stop_reason": "end_turn", "usage": {"output_tokens": 20}}
    assert "stop_reason" not in second.message
