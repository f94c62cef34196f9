"""Transcripts that somebody has damaged: whatever is left of them is read."""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_wrapper import (
    fork_session,
    get_session_info,
    get_session_messages,
    get_subagent_messages,
    list_sessions,
    rename_session,
)
from claude_wrapper.store.history import read_conversation
from claude_wrapper.store.lines import EntryReader, FileLines, WholeReader
from claude_wrapper.store.summary import SummaryEntry

relaxed = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "type", "uuid", "parentUuid", "isSidechain", "isMeta", "timestamp", "cwd", "gitBranch", "message", "tag",
    "customTitle", "lastPrompt", "summary", "sessionId", "teamName", "logicalParentUuid", "isCompactSummary",
]  # fmt: skip
odd_entries = st.dictionaries(st.sampled_from(FIELDS), json_values | st.sampled_from(["user", "assistant"]))
junk_lines = st.one_of(
    st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"")),
    st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass").replace(b"\n", b"")),
    json_values.map(lambda value: json.dumps(value).encode()),
    odd_entries.map(lambda value: json.dumps(value).encode()),
    st.sampled_from(
        [b"[" * 5000, b'{"a":' * 5000, b"\0" * 100, b'{"type":"user","message":"\\ud83d"}', b"null"]
    ),
)


def conversation(transcripts, count=6):
    return [transcripts.user(1, content="start")] + [
        (transcripts.user if n % 2 else transcripts.assistant)(n, n - 1) for n in range(2, count + 1)
    ]


def use_everything(transcripts):
    """Call whatever reads transcripts; none of it may raise."""
    list_sessions()
    get_session_info(transcripts.session)
    get_session_messages(transcripts.session)
    get_subagent_messages(transcripts.session, "a1")
    read_conversation(transcripts.path())
    with contextlib.suppress(ValueError):
        # There may be no messages left to copy.
        fork_session(transcripts.session)


@relaxed
@given(cut=st.integers(min_value=0))
def test_a_transcript_may_be_cut_off_anywhere(cut, transcripts, numbers):
    path = transcripts.write(*conversation(transcripts))
    whole = path.read_bytes()
    left = whole[: cut % (len(whole) + 1)]
    path.write_bytes(left)

    use_everything(transcripts) if left else None

    # A last line that lacks nothing but its newline is whole.
    lines = [line for line in left.split(b"\n") if line]
    readable = sum(1 for line in lines if line.endswith(b"}") and line in whole.splitlines())
    assert numbers(get_session_messages(transcripts.session)) == list(range(1, readable + 1))


@relaxed
@given(junk=st.lists(st.tuples(st.integers(0, 6), junk_lines), max_size=5))
def test_lines_of_junk_are_passed_over(junk, transcripts, numbers):
    lines = [transcripts.line(entry) for entry in conversation(transcripts)]
    for place, line in sorted(junk, key=lambda pair: pair[0], reverse=True):
        lines.insert(place, line + b"\n")
    transcripts.write(*lines)

    use_everything(transcripts)

    shown = numbers(
        message
        for message in get_session_messages(transcripts.session)
        if message.uuid.endswith("-0000-4000-8000-000000000000")
    )
    # Junk that is itself an entry can begin a conversation of its own, in place of this one.
    assert shown in ([], [1, 2, 3, 4, 5, 6])


@relaxed
@given(
    junk=st.lists(
        junk_lines.filter(lambda line: b"user" not in line and b"assistant" not in line), max_size=5
    )
)
def test_nothing_is_lost_among_junk_that_is_no_message(junk, transcripts, numbers):
    entries = conversation(transcripts)
    lines = [
        part for entry in entries for part in (*(line + b"\n" for line in junk), transcripts.line(entry))
    ]
    transcripts.write(*lines)

    assert numbers(get_session_messages(transcripts.session)) == [1, 2, 3, 4, 5, 6]
    rename_session(transcripts.session, "t")
    assert get_session_info(transcripts.session) is not None


@relaxed
@given(place=st.integers(min_value=0), bad=st.binary(min_size=1, max_size=3))
def test_bytes_that_do_not_belong_there_cost_one_line_at_most(place, bad, transcripts, numbers):
    entries = [transcripts.user(1), transcripts.assistant(2, 1), transcripts.user(3, 2)]
    lines = [transcripts.line(entry) for entry in entries]
    place %= len(lines[2])
    lines[2] = lines[2][:place] + bad.replace(b"\n", b"?") + lines[2][place:]
    transcripts.write(*lines, transcripts.assistant(4, 2))

    use_everything(transcripts)

    assert numbers(get_session_messages(transcripts.session))[-3:] == [1, 2, 4]


def test_text_that_is_no_text_is_replaced(transcripts):
    line = transcripts.line(transcripts.user(1, content="a?b")).replace(b"a?b", b"a\xffb\\ud83d")
    transcripts.write(line)

    assert get_session_messages(transcripts.session)[0].message["content"] == "a\ufffdb\ufffd"
    assert get_session_info(transcripts.session).first_prompt == "a\ufffdb\ufffd"


@pytest.mark.parametrize("field", ["cwd", "gitBranch", "timestamp", "customTitle", "isSidechain", "tag"])
@pytest.mark.parametrize("value", [5, None, [], {"a": 1}])
def test_a_field_of_a_wrong_type_costs_only_itself(field, value, transcripts):
    transcripts.write(transcripts.user(1) | {field: value})

    assert get_session_info(transcripts.session).first_prompt == "hi"
    assert len(get_session_messages(transcripts.session)) == 1


def test_windows_line_ends_and_blank_lines_are_nothing(transcripts, numbers):
    lines = [transcripts.line(entry).replace(b"\n", b"\r\n\r\n\n") for entry in conversation(transcripts)]
    transcripts.write(*lines)

    assert numbers(get_session_messages(transcripts.session)) == [1, 2, 3, 4, 5, 6]


def test_a_line_can_be_read_again_at_its_place(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"tag":"a"}\njunk\n{"tag":"b"}')
    reader = EntryReader(SummaryEntry)
    with FileLines(path) as lines:
        places = [place for place, _ in lines.read(reader)]
        assert [lines.get(place, reader).tag for place in reversed(places)] == ["b", "a"]
        assert [tag for _, tag in lines.read(WholeReader(str))] == [{"tag": "a"}, {"tag": "b"}]
        path.write_bytes(b"")
        assert lines.get(places[-1], reader) is None
