"""What hooks answer: JSON or text, to the right event or not; and verdicts of models."""

import pytest

from claude_wrapper.agent.hooks.output import (
    MisplacedAnswerError,
    UnusableAnswerError,
    read_answer,
    says_async,
)
from claude_wrapper.agent.hooks.overlong import shortened
from claude_wrapper.agent.hooks.prompt import question, read_verdict


@pytest.mark.feature("HOOK-10")
@pytest.mark.parametrize(
    "text", ["plain", "{bad", "[1, 2]", 'junk\n{"systemMessage": "x"}', '{"a": 1} junk', ""]
)
def test_what_is_no_object_is_text(text):
    assert read_answer(f"  {text}\n", "Stop") == text


def test_an_answer_may_have_blank_space_around_it_and_keys_that_nobody_knows():
    answer = read_answer(' \n {"systemMessage": "x", "unknown": 1, "reason": null} \n', "Stop")

    assert answer.system_message == "x"


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": 5}',
        '{"decision": "maybe"}',
        '{"systemMessage": 5}',
        '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "perhaps"}}',
        '{"hookSpecificOutput": {"hookEventName": "NoSuchEvent"}}',
    ],
)
def test_an_object_that_is_no_answer_is_refused_with_what_is_wrong(text):
    with pytest.raises(UnusableAnswerError, match="cannot be used"):
        read_answer(text, "PreToolUse")


@pytest.mark.feature("HOOK-17")
def test_an_answer_to_another_event_is_told_from_one_that_is_wrong():
    with pytest.raises(MisplacedAnswerError, match="asked about Stop and answered about PostToolUse"):
        read_answer('{"hookSpecificOutput": {"hookEventName": "PostToolUse"}}', "Stop")


@pytest.mark.parametrize(
    ("line", "says"),
    [(b'{"async": true}', True), (b'{"async": false}', False), (b"async", False), (b"\xff\xfe", False)],
)
def test_which_first_lines_ask_not_to_wait(line, says):
    assert says_async(line) is says


@pytest.mark.feature("HOOK-19")
def test_a_long_text_goes_to_a_file_that_only_the_user_can_read(tmp_path):
    folder = tmp_path / "results"
    text = shortened("x" * 20_000, folder)
    (path,) = folder.iterdir()

    assert len(text) < 3_000
    assert str(path) in text
    assert path.read_text() == "x" * 20_000
    assert path.stat().st_mode & 0o777 == 0o600
    assert shortened("short", folder) == "short"


@pytest.mark.feature("HOOK-23")
def test_a_question_has_the_event_where_it_wants_it():
    assert question("Is $ARGUMENTS fine?", '{"a":1}') == 'Is {"a":1} fine?'
    assert question("Fine?", '{"a":1}').endswith('{"a":1}')


@pytest.mark.feature("HOOK-23")
@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ('{"ok": true, "reason": "r"}', (True, "r", False)),
        ('```json\n{"ok": false, "reason": "r", "impossible": true}\n```', (False, "r", True)),
        ('{"ok": "x"}', None),
        ("garbage", None),
        ("} {", None),
        ("", None),
    ],
)
def test_a_verdict_is_read_or_there_is_none(answer, verdict):
    found = read_verdict(answer)

    assert (found and (found.ok, found.reason, found.impossible)) == verdict
