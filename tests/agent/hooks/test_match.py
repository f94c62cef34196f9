"""What matchers cover."""

import pytest

from claude_wrapper.agent.hooks.match import matches


@pytest.mark.feature("HOOK-04", "HOOK-05")
@pytest.mark.parametrize(
    "matcher", ["Task", "Task|Bash", "Bash, Task", "Ta.*", "^Task$", "Agent", "A.*t", "^Agent$"]
)
@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"])
def test_subagents_are_matched_by_the_name_that_their_tool_had_once(matcher, event):
    assert matches(matcher, "Agent", event)


@pytest.mark.parametrize("matcher", ["task", "TaskOutput", "Task.+", "Tas"])
def test_no_other_name_stands_for_them(matcher):
    assert not matches(matcher, "Agent", "PreToolUse")


def test_a_type_of_subagents_has_only_its_own_name():
    assert not matches("Task", "Agent", "SubagentStart")
