import msgspec
import pytest

from claude_wrapper.testing import (
    ScriptError,
    block,
    call,
    cut,
    error_event,
    fail,
    html,
    redacted,
    say,
    stall,
    think,
    turn,
)


def test_added_turns_are_one_reply_with_the_blocks_in_order():
    whole = think("hm") + say("Let me see.") + call("Bash", command="ls") + redacted("x")
    assert [content["type"] for content in whole.content] == [
        "thinking",
        "text",
        "tool_use",
        "redacted_thinking",
    ]


def test_a_cut_stands_behind_the_blocks_that_were_added_before_it():
    whole = think("a") + (say("b") + cut())
    assert whole.ending.block == 1


def test_a_place_that_is_named_does_not_move_when_turns_are_added():
    whole = think("a") + (say("b") + cut(after_block=0))
    assert whole.ending.block == 0


def test_a_stall_in_front_stands_before_the_reply_and_one_behind_after_its_block():
    whole = stall("first") + say("a") + stall("second") + say("b")
    assert [(hold.gate, hold.block) for hold in whole.holds] == [("first", -1), ("second", 0)]


def test_settings_of_the_parts_are_kept_in_the_sum():
    whole = turn(say("a"), usage={"input_tokens": 5}, stop_reason="max_tokens", chunk=3) + turn(
        say("b"), usage={"output_tokens": 7}
    )
    assert (whole.usage, whole.stop_reason, whole.chunk) == (
        {"input_tokens": 5, "output_tokens": 7},
        "max_tokens",
        3,
    )


def test_a_turn_without_parts_is_an_empty_reply_and_not_a_failure():
    assert turn().content == ()
    assert not turn().only_fails


@pytest.mark.parametrize(
    ("written", "fails"),
    [(fail(529), True), (fail(529) + say("ok"), False), (fail(500) + cut(), False), (html(), False)],
    ids=["failure", "failure-then-text", "failure-then-cut", "page"],
)
def test_only_a_turn_with_nothing_behind_its_failures_is_no_reply(written, fails):
    assert written.only_fails is fails


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "authentication_error"), (429, "rate_limit_error"), (503, "api_error")]
)
def test_a_failure_has_the_error_type_that_goes_with_its_status(status, kind):
    assert fail(status).failures[0].error == kind


def test_tool_input_comes_from_a_mapping_from_keywords_or_from_both():
    written = call("Write", {"tool": "x"}, content="y").content[0]
    assert written == {"type": "tool_use", "name": "Write", "input": {"tool": "x", "content": "y"}}


def test_a_later_ending_replaces_an_earlier_one():
    assert (say("a") + cut() + error_event("api_error")).ending.kind == "error"


@pytest.mark.parametrize("wrong", [{}, {"type": "text"}, {"type": "tool_use", "name": "Bash"}])
def test_a_block_that_cannot_be_sent_is_refused_when_it_is_written(wrong):
    with pytest.raises(ScriptError, match="block"):
        block(wrong)


def test_a_turn_cannot_be_changed_once_it_is_written():
    with pytest.raises(AttributeError):
        say("a").delay = 1
    assert msgspec.structs.replace(say("a"), delay=1).delay == 1
