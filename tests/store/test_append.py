"""Writing transcripts: whole lines behind those that are there, new files whole or not at all."""

import json
import os
import stat

import pytest

from claude_wrapper.store.append import TranscriptWriter, append_to, write_new
from claude_wrapper.store.entries import AssistantEntry


def test_an_entry_is_a_line_behind_the_others(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"a":1}\n')

    append_to(path, {"type": "x", "text": "é\u2028"})

    assert path.read_bytes() == '{"a":1}\n{"type":"x","text":"é\u2028"}\n'.encode()


def test_a_line_that_was_cut_off_is_ended_first(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"a":1}\n{"b"')

    append_to(path, {"type": "x"})

    assert path.read_bytes() == b'{"a":1}\n{"b"\n{"type":"x"}\n'


def test_what_cannot_be_written_is_raised(tmp_path):
    with pytest.raises(OSError, match="directory"):
        append_to(tmp_path, {"type": "x"})


def test_a_writer_tells_its_mirror_and_keeps_its_first_failure(tmp_path):
    told = []
    writer = TranscriptWriter(tmp_path / "file" / "t.jsonl", lambda path, lines: told.append((path, lines)))
    (tmp_path / "file").write_text("in the way")

    writer.append([{"type": "x"}])

    assert isinstance(writer.failure, OSError)
    assert told == [(writer.path, [b'{"type":"x"}'])]


def reply(text, stop_reason=None):
    return AssistantEntry(
        message={"content": text, "stop_reason": stop_reason},
        session_id="s",
        uuid="u",
        parent_uuid=None,
        is_sidechain=False,
        timestamp="2026-01-01T00:00:00.000Z",
        cwd="/",
        version="1",
        git_branch="HEAD",
        user_type="external",
        entrypoint="sdk-cli",
    )


def lines_of(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def drafted(tmp_path):
    """A writer with a draft that has become final, though not on the disk yet."""
    writer = TranscriptWriter(tmp_path / "t.jsonl", lambda _path, lines: writer.told.extend(lines))
    writer.told = []
    writer.append([{"type": "before"}])
    entry = reply("Hi")
    writer.draft(entry)
    entry.message["stop_reason"] = "end_turn"
    return writer


def test_a_draft_is_there_at_once_and_takes_its_final_text_in_its_place(drafted):
    assert [line.get("message", {}).get("stop_reason") for line in lines_of(drafted.path)] == [None, None]
    assert len(drafted.told) == 1

    assert drafted.settle()
    drafted.append([{"type": "after"}])

    lines = lines_of(drafted.path)
    assert [line["type"] for line in lines] == ["before", "assistant", "after"]
    assert lines[1]["message"] == {"content": "Hi", "stop_reason": "end_turn"}
    assert [json.loads(line) for line in drafted.told] == lines


def test_a_mirror_gets_a_draft_before_what_follows_it(drafted):
    drafted.append([{"type": "after"}])
    assert not drafted.settle()

    assert [json.loads(line)["type"] for line in drafted.told] == ["before", "assistant", "after"]
    assert lines_of(drafted.path)[1]["message"]["stop_reason"] == "end_turn"


@pytest.mark.parametrize("harm", ["grown", "replaced", "deleted"])
def test_a_draft_that_cannot_take_its_final_text_stays_as_it_is(tmp_path, harm):
    writer = TranscriptWriter(tmp_path / "t.jsonl")
    entry = reply("Hi")
    writer.draft(entry)
    before = writer.path.read_bytes()
    if harm == "grown":
        entry.message["content"] = "Hi" * 1000
    elif harm == "replaced":
        before = b"x" * len(before)
        writer.path.write_bytes(before)
    else:
        writer.path.unlink()

    assert not writer.settle()
    assert harm == "deleted" or writer.path.read_bytes() == before
    assert writer.failure is None


def test_a_new_transcript_is_there_whole_and_private(tmp_path):
    path = tmp_path / "t.jsonl"

    write_new(path, ({"n": n} for n in range(3)))

    assert path.read_bytes() == b'{"n":0}\n{"n":1}\n{"n":2}\n'
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_transcript_that_cannot_be_finished_leaves_nothing(tmp_path):
    def entries():
        yield {"n": 0}
        raise LookupError("no more")

    with pytest.raises(LookupError):
        write_new(tmp_path / "t.jsonl", entries())

    assert list(tmp_path.iterdir()) == []
