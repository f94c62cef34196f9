"""The words for calls, outcomes and ends, and what makes them safe to show."""

import pytest

from claude_wrapper.cli.printable import printable, signs_for
from claude_wrapper.cli.reply_text import ReplyText
from claude_wrapper.cli.wording import argument_of, cost_of, count, outcome_lines, stop_reason
from claude_wrapper.messages import ResultMessage


@pytest.mark.parametrize(
    ("tool_input", "words"),
    [
        ({"command": "git  log \\\n --oneline", "description": "x"}, "git log \\ --oneline"),
        ({"file_path": "/w/src/a.py"}, "src/a.py"),
        ({"file_path": "/elsewhere/a.py"}, "/elsewhere/a.py"),
        ({"file_path": "/word/a.py"}, "/word/a.py"),
        ({"pattern": "TODO", "path": "/w/src"}, "src"),
        ({"pattern": "*.py"}, "*.py"),
        ({"prompt": "long text", "description": "look"}, "look"),
        ({"a": 1}, '{"a":1}'),
        ({"command": 7}, '{"command":7}'),
        ({}, ""),
    ],
)
def test_the_most_telling_input_stands_for_a_call(tool_input, words):
    assert argument_of(tool_input, "/w") == words


@pytest.mark.parametrize(
    ("name", "tool_input", "content", "failed", "lines"),
    [
        ("Bash", {}, "a\n\nb\n", False, ["a", "b"]),
        ("Bash", {}, "", False, []),
        ("Bash", {}, "\n".join("abcdefg"), True, ["a", "(4 more lines)", "f", "g"]),
        ("Bash", {}, "ran\n--------\nok", False, ["ran", "ok"]),
        ("Read", {}, "1\tx\n2\ty", False, ["2 lines"]),
        ("Read", {}, "no such file", True, ["no such file"]),
        ("Edit", {}, "<tool_use_error>not found\nx</tool_use_error>", True, ["not found", "x"]),
        ("Write", {"content": "a\n"}, "written", False, ["1 line written"]),
        ("Edit", {"old_string": "k\n  a\nz", "new_string": "k\n  b\nz"}, "", False, ["- a", "+ b"]),
        ("Edit", {"old_string": "a\n" * 9, "new_string": "b"}, "", False, ["9 lines out, 1 line in"]),
        ("Grep", {}, "a\nb", False, ["2 lines"]),
        ("Other", {}, [{"type": "text", "text": "one"}], False, ["one"]),
        ("Other", {}, [{"type": "image", "source": {}}], False, ["[image]"]),
        ("Other", {}, None, False, []),
    ],
)
def test_an_outcome_is_told_in_a_few_lines(name, tool_input, content, failed, lines):
    assert outcome_lines(name, tool_input, content, failed=failed) == lines


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"subtype": "error_max_turns", "errors": ["x"]}, "the limit of turns is reached"),
        ({"subtype": "error_during_execution", "errors": ["a", "b"]}, "the run was broken off: a; b"),
        ({"subtype": "success", "result": "API Error: 500"}, "API Error: 500"),
        ({"subtype": "error_of_the_future"}, "error_of_the_future"),
    ],
)
def test_the_reason_of_an_error_result_is_told(fields, reason):
    result = ResultMessage(
        duration_ms=1, duration_api_ms=1, is_error=True, num_turns=1, session_id="s", **fields
    )
    assert stop_reason(result) == reason


def test_numbers_and_amounts_are_written_out():
    assert (count(1, "turn"), count(0, "turn"), count(1234, "line")) == ("1 turn", "0 turns", "1,234 lines")
    assert (cost_of(0.00123), cost_of(0), cost_of(12.345)) == ("$0.0012", "$0.0000", "$12.35")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("50%\r100%", "50%\\x0d100%"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("äöü ☃ 漢字 😀", "äöü ☃ 漢字 😀"),
    ],
)
def test_what_would_steer_a_terminal_is_written_as_an_escape(text, shown):
    assert printable(text) == shown


def test_signs_are_as_fine_as_the_encoding_allows():
    assert signs_for("utf-8").is_fine
    assert not signs_for("iso-8859-1").is_fine
    assert not signs_for("no-such-encoding").is_fine
    assert "".join(map(str, signs_for("ascii"))).isascii()


def delta(text):
    return {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}


def test_a_reply_is_given_line_by_line_and_once():
    reply = ReplyText()
    reply.piece({"type": "content_block_start"})
    assert reply.piece(delta("one\ntw")) == "one"
    assert reply.pending == "tw"
    assert reply.piece(delta("o\nthree\nfo")) == "two\nthree"
    assert reply.piece({"type": "content_block_delta", "delta": {"type": "input_json_delta"}}) == ""
    assert reply.whole("one\ntwo\nthree\nfour") == "four"
    assert reply.pending == ""


def test_a_reply_that_starts_over_is_given_again():
    reply = ReplyText()
    reply.piece(delta("one\ntw"))
    reply.piece({"type": "content_block_start"})
    assert reply.whole("other") == "other"


def test_a_reply_that_breaks_off_leaves_its_last_line():
    reply = ReplyText()
    reply.piece(delta("one\ntw"))
    assert reply.rest() == "tw"
    assert reply.rest() == ""
