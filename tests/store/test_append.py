"""Writing transcripts: whole lines behind those that are there, new files whole or not at all."""

import os
import stat

import pytest

from claude_wrapper.store.append import TranscriptWriter, append_to, write_new


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
