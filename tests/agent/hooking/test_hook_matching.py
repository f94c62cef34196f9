"""Matchers, and what several answers come to."""

import pytest

from claude_wrapper.agent.hooks.hook import HostHook
from claude_wrapper.agent.hooks.match import matches
from claude_wrapper.agent.hooks.outcome import outcome_of, pre_tool_outcome
from claude_wrapper.agent.hooks.reply import HookReply
from claude_wrapper.wire.hook_outputs import HookOutput, PreToolUseOutput


@pytest.mark.feature("HOOK-04")
@pytest.mark.parametrize(
    ("matcher", "subject", "hit"),
    [
        (None, "Bash", True),
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("Bash|Read", "Read", True),
        ("Bash, Read", "Read", True),
        ("bash", "Bash", False),
        ("Edit.*", "NotebookEdit", True),
        ("^Edit.*", "NotebookEdit", False),
        ("mcp__memory", "mcp__memory__get", False),
        ("mcp__memory__.*", "mcp__memory__get", True),
        ("[", "Bash", False),
        ("Bash", None, True),
    ],
)
def test_what_a_matcher_covers(matcher, subject, hit):
    assert matches(matcher, subject) is hit


def reply(decision=None, **fields):
    specific = PreToolUseOutput(permission_decision=decision, **fields) if decision or fields else None
    output = HookOutput() if specific is None else HookOutput(hook_specific_output=specific)
    return HookReply(HostHook(callback_id="h", seconds=1.0), output)


@pytest.mark.feature("PERM-03")
@pytest.mark.parametrize(
    ("decisions", "strictest"),
    [
        (["allow", "ask", "defer", "deny"], "deny"),
        (["allow", "ask", "defer"], "defer"),
        (["ask", "allow"], "ask"),
        (["allow", None], "allow"),
        ([None], None),
    ],
)
def test_the_strictest_decision_wins_in_any_order(decisions, strictest):
    for order in (decisions, decisions[::-1]):
        assert pre_tool_outcome([reply(d) for d in order]).decision == strictest


def test_an_input_that_was_changed_by_one_hook_is_void_when_another_denies():
    changed = reply("allow", updated_input={"command": "x"})

    assert pre_tool_outcome([changed]).updated_input == {"command": "x"}
    assert pre_tool_outcome([changed, reply("deny")]).updated_input is None


def test_all_contexts_are_kept_and_one_stop_is_enough():
    outcome = outcome_of(
        [
            reply("allow", additional_context="a"),
            HookReply(
                HostHook(callback_id="h", seconds=1.0), HookOutput(continue_=False, stop_reason="enough")
            ),
            reply("allow", additional_context="b"),
        ]
    )

    assert outcome.contexts == ["a", "b"]
    assert (outcome.stop, outcome.stop_reason) == (True, "enough")
