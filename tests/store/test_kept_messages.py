"""What a compaction kept, read back from transcripts."""

import pytest

from claude_wrapper.store.fork import forked_lines
from claude_wrapper.store.history import read_conversation


@pytest.fixture
def read(transcripts):
    def read(*entries):
        return read_conversation(transcripts.write(*entries))

    return read


def order(conversation, t):
    return [next(n for n in range(1, 20) if t.id(n) == entry.uuid) for entry in conversation.entries]


def compacted(t, **metadata):
    border = t.note(
        5, None, "system", subtype="compact_boundary", compactMetadata={"trigger": "auto", **metadata}
    )
    summary = t.user(6, 5, "notes", isCompactSummary=True)
    return [t.user(1), t.assistant(2, 1), t.assistant(3, 2), t.user(4, 3), border, summary, t.assistant(7, 6)]


def kept(t, *numbers):
    return {"preservedMessages": {"anchorUuid": t.id(6), "uuids": [t.id(n) for n in numbers]}}


def test_what_was_kept_follows_the_summary(read, transcripts):
    t = transcripts

    assert order(read(*compacted(t, **kept(t, 3, 4))), t) == [5, 6, 3, 4, 7]


def test_ends_alone_tell_what_was_kept(read, transcripts):
    t = transcripts
    segment = {"anchorUuid": t.id(6), "headUuid": t.id(3), "tailUuid": t.id(4)}

    assert order(read(*compacted(t, preservedSegment=segment)), t) == [5, 6, 3, 4, 7]


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"preservedMessages": None},
        {"preservedMessages": {"anchorUuid": "nowhere", "uuids": ["x"]}},
        {"preservedMessages": {"anchorUuid": 5, "uuids": "x"}},
        {"preservedSegment": {"anchorUuid": "x", "headUuid": "y", "tailUuid": "z"}},
        {"preservedMessages": [1]},
    ],
)
def test_what_cannot_be_found_is_left_out(read, transcripts, metadata):
    assert order(read(*compacted(transcripts, **metadata)), transcripts) == [5, 6, 7]


def test_nothing_is_there_twice(read, transcripts):
    t = transcripts

    assert order(read(*compacted(t, **kept(t, 3, 3, 7, 6, 4))), t) == [5, 6, 3, 4, 7]


def test_a_copy_has_what_was_kept_in_its_place(transcripts):
    t = transcripts
    path = t.write(*compacted(t, **kept(t, 3, 4)))
    copied = list(forked_lines(path, read_conversation(path), "copy"))
    parents = {line["uuid"]: line["parentUuid"] for line in copied}

    assert [line["uuid"] for line in copied] == [t.id(n) for n in (5, 6, 3, 4, 7)]
    assert (parents[t.id(3)], parents[t.id(4)], parents[t.id(7)]) == (t.id(6), t.id(3), t.id(4))
