"""Renaming, tagging, forking and deleting sessions."""

import os
import stat

import pytest

from claude_wrapper import (
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    list_sessions,
    rename_session,
    tag_session,
)

OTHER = "99999999-9999-4999-8999-999999999999"


@pytest.mark.feature("SESS-13")
def test_a_title_is_written_behind_what_is_there(transcripts):
    before = transcripts.write(transcripts.user(1)).read_bytes()

    rename_session(transcripts.session, "  A name ", str(transcripts.project))

    after = transcripts.path().read_bytes()
    assert after.startswith(before)
    assert after[len(before) :] == transcripts.line(
        {"type": "custom-title", "customTitle": "A name", "sessionId": transcripts.session}
    )
    assert get_session_info(transcripts.session).custom_title == "A name"


@pytest.mark.feature("SESS-13")
def test_a_tag_can_be_set_changed_and_taken_away(transcripts):
    transcripts.write(transcripts.user(1))
    seen = []
    for tag in ("one", "two", None):
        tag_session(transcripts.session, tag)
        seen.append(get_session_info(transcripts.session).tag)

    assert seen == ["one", "two", None]


@pytest.mark.parametrize(
    ("tag", "kept"), [(" a b ", "a b"), ("t\u200bag", "tag"), ("\ufb01x", "fix"), ("x\u202ey\ue000", "xy")]
)
def test_what_nobody_sees_is_no_part_of_a_tag(tag, kept, transcripts):
    transcripts.write(transcripts.user(1))
    tag_session(transcripts.session, tag)

    assert get_session_info(transcripts.session).tag == kept


@pytest.mark.parametrize("title", ["", " \n"])
def test_an_empty_title_is_refused(title, transcripts):
    before = transcripts.write(transcripts.user(1)).read_bytes()

    with pytest.raises(ValueError, match="title must be non-empty"):
        rename_session(transcripts.session, title)
    assert transcripts.path().read_bytes() == before


@pytest.mark.parametrize("tag", ["", "  ", "\u200b"])
def test_an_empty_tag_is_refused(tag, transcripts):
    transcripts.write(transcripts.user(1))

    with pytest.raises(ValueError, match="tag must be non-empty"):
        tag_session(transcripts.session, tag)


CHANGES = {
    "rename": lambda session, folder=None: rename_session(session, "t", folder),
    "tag": lambda session, folder=None: tag_session(session, "t", folder),
    "delete": lambda session, folder=None: delete_session(session, folder),
    "fork": lambda session, folder=None: fork_session(session, folder),
}


@pytest.mark.feature("SESS-13")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_bad_id_is_refused(change, transcripts):
    for bad in ("x", "", "../" + transcripts.session):
        with pytest.raises(ValueError, match="Invalid session_id"):
            change(bad)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_session_that_is_not_there_cannot_be_changed(change, transcripts):
    transcripts.write(transcripts.user(1))
    transcripts.write(session=OTHER)

    with pytest.raises(FileNotFoundError, match=f"Session {OTHER} not found"):
        change(OTHER)
    with pytest.raises(FileNotFoundError, match="not found in project directory for /nonexistent"):
        change(transcripts.session, "/nonexistent")
    assert transcripts.path(OTHER).read_bytes() == b""


def test_a_title_behind_a_line_that_was_cut_off_costs_no_line(transcripts, numbers):
    path = transcripts.write(transcripts.user(1), transcripts.assistant(2, 1))
    path.write_bytes(path.read_bytes()[:-1])

    rename_session(transcripts.session, "t")

    assert get_session_info(transcripts.session).custom_title == "t"
    assert numbers(get_session_messages(transcripts.session)) == [1, 2]


def test_a_deleted_session_takes_its_subagents_along(transcripts):
    transcripts.write(transcripts.user(1))
    transcripts.write_subagent("a1", transcripts.user(2))
    transcripts.write(transcripts.user(1), session=OTHER)

    delete_session(transcripts.session, str(transcripts.project))

    assert [path.name for path in transcripts.folder.iterdir()] == [f"{OTHER}.jsonl"]
    assert get_session_info(transcripts.session) is None


# -- forks


@pytest.mark.feature("SESS-13")
def test_a_fork_is_a_session_of_its_own(transcripts):
    t = transcripts
    before = t.write(
        t.user(1, content="q"), t.note(2, 1), t.assistant(3, 2, slug="s"), t.note(4, 3, "system")
    ).read_bytes()

    fork = fork_session(t.session, str(t.project))

    assert t.path().read_bytes() == before
    *entries, title = t.read(fork.session_id)
    assert [entry["forkedFrom"] for entry in entries] == [
        {"sessionId": t.session, "messageUuid": t.id(number)} for number in (1, 2, 3, 4)
    ]
    assert [entry["parentUuid"] for entry in entries] == [None, *(entry["uuid"] for entry in entries[:-1])]
    assert {entry["sessionId"] for entry in [*entries, title]} == {fork.session_id}
    assert not {entry["uuid"] for entry in entries} & {t.id(number) for number in (1, 2, 3, 4)}
    assert "slug" not in entries[2]
    assert all("timestamp" in entry for entry in entries)
    assert get_session_messages(fork.session_id)[0].message["content"] == "q"
    assert (title["type"], title["customTitle"]) == ("custom-title", "q (fork)")
    assert list_sessions(str(t.project))[0].session_id == fork.session_id


def test_a_fork_is_private_and_leaves_nothing_else_behind(transcripts):
    transcripts.write(transcripts.user(1))

    fork = fork_session(transcripts.session)

    path = transcripts.path(fork.session_id)
    assert sorted(transcripts.folder.iterdir()) == sorted([path, transcripts.path()])
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_fork_ends_where_it_is_told_to(transcripts):
    t = transcripts
    t.write(t.user(1), t.assistant(2, 1), t.note(3, 2, "progress"), t.user(4, 3), t.assistant(5, 4))

    kept = {}
    for up_to in (2, 3, 4):
        fork = fork_session(t.session, up_to_message_id=t.id(up_to), title=" Mine ")
        kept[up_to] = [int(e["forkedFrom"]["messageUuid"][:8], 16) for e in t.read(fork.session_id)[:-1]]
        assert t.read(fork.session_id)[-1]["customTitle"] == "Mine"

    assert kept == {2: [1, 2], 3: [1, 2], 4: [1, 2, 4]}


def test_a_fork_is_as_old_as_its_original_but_ends_now(transcripts):
    t = transcripts
    t.write(t.user(1), t.assistant(2, 1), t.user(3, 2))

    first, middle, last, _ = t.read(fork_session(t.session, up_to_message_id=t.id(3)).session_id)

    assert [first["timestamp"], middle["timestamp"]] == [t.user(n)["timestamp"] for n in (1, 2)]
    assert last["timestamp"] > t.user(3)["timestamp"]


def test_what_is_not_copied_is_passed_over_in_the_chain(transcripts):
    t = transcripts
    t.write(
        t.user(1),
        t.note(2, 1, "progress"),
        t.note(3, 2, "of another kind"),
        t.user(4, 3, isSidechain=True),
        t.assistant(5, 4),
        t.assistant(6, 99),
    )

    entries = t.read(fork_session(t.session).session_id)[:-1]

    assert [int(entry["forkedFrom"]["messageUuid"][:8], 16) for entry in entries] == [1, 5, 6]
    assert [entry["parentUuid"] for entry in entries] == [None, entries[0]["uuid"], None]


def test_ids_within_a_fork_name_its_own_entries(transcripts):
    t = transcripts
    t.write(
        t.user(1),
        t.call(2, 1, "a"),
        t.tool_result(3, 2, "a", sourceToolAssistantUUID=t.id(2)),
        t.note(4, None, "system", subtype="compact_boundary", logicalParentUuid=t.id(3)),
        {"type": "content-replacement", "sessionId": t.session, "replacements": []},
        {"type": "tag", "tag": "t", "sessionId": t.session},
        {"type": "cost-state", "totalCostUSD": 1, "sessionId": t.session},
    )

    fork = fork_session(t.session)
    _, two, three, border, replacement, title = t.read(fork.session_id)

    assert three["sourceToolAssistantUUID"] == two["uuid"]
    assert border["logicalParentUuid"] == three["uuid"]
    assert replacement["type"] == "content-replacement"
    assert replacement["sessionId"] == title["sessionId"] == fork.session_id
    assert get_session_info(fork.session_id).tag is None


FORK_TITLES = [
    ([{"type": "custom-title", "customTitle": "C"}, {"type": "ai-title", "aiTitle": "A"}], "C (fork)"),
    ([{"type": "ai-title", "aiTitle": "A"}, {"type": "last-prompt", "lastPrompt": "L"}], "A (fork)"),
    ([{"type": "last-prompt", "lastPrompt": "L"}], "hi (fork)"),
]


@pytest.mark.parametrize(("entries", "title"), FORK_TITLES)
def test_a_fork_is_called_after_its_original(entries, title, transcripts):
    transcripts.write(transcripts.user(1), *entries)

    assert get_session_info(fork_session(transcripts.session, title=" ").session_id).custom_title == title


def test_a_fork_of_a_session_without_a_prompt_has_a_title(transcripts):
    transcripts.write(transcripts.assistant(1))

    assert transcripts.read(fork_session(transcripts.session).session_id)[-1]["customTitle"] == (
        "Forked session (fork)"
    )


def test_a_fork_needs_messages_and_the_place_where_it_ends(transcripts):
    t = transcripts
    t.write({"type": "summary", "summary": "s"}, t.user(1, isSidechain=True))
    with pytest.raises(ValueError, match="has no messages to fork"):
        fork_session(t.session)
    t.write(t.user(1), t.user(2, 1, isSidechain=True))
    with pytest.raises(ValueError, match="Invalid up_to_message_id: x"):
        fork_session(t.session, up_to_message_id="x")
    for missing in (2, 3):
        with pytest.raises(ValueError, match=f"Message {t.id(missing)} not found in session"):
            fork_session(t.session, up_to_message_id=t.id(missing))
    assert [path.name for path in t.folder.iterdir()] == [f"{t.session}.jsonl"]
