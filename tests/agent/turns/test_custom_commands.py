"""Commands of the user's own, given to a running agent."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, say

ROOT = {"IS_SANDBOX": "1"}


def command(workspace, name, text):
    path = workspace.project / ".claude/commands" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def give(workspace, prompt, *argv):
    """The result of a prompt, and what the model was asked, if it was."""
    with ScriptedModel([say("Ok.")]) as model:
        talk = workspace.talk(model, *argv, env=ROOT)
        talk.initialize()
        talk.prompt(prompt)
        result = talk.result()
        return result, [json.dumps(request.body["messages"]) for request in model.requests]


@pytest.mark.feature("HEVT-10", "SKILL-07")
def test_hooks_see_a_command_before_it_becomes_a_prompt(workspace, tmp_path):
    command(workspace, "hey", "Say hey to $ARGUMENTS.")
    recorder = tmp_path / "recorded"
    hook = {"hooks": [{"type": "command", "command": f"cat > {recorder}"}]}
    settings = {"hooks": {"UserPromptExpansion": [hook]}}
    (workspace.project / ".claude/settings.json").write_text(json.dumps(settings))
    _, (asked,) = give(workspace, "/hey Bob")
    assert "Say hey to Bob." in asked
    told = json.loads(recorder.read_text())
    assert told["command_name"] == "hey"
    assert told["command_args"] == "Bob"
    assert told["command_source"] == "projectSettings"
    assert told["prompt"] == "/hey Bob"


@pytest.mark.feature("HEVT-10")
def test_a_hook_may_stop_a_command(workspace):
    command(workspace, "hey", "Say hey.")
    hook = {"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
    settings = {"hooks": {"UserPromptExpansion": [hook]}}
    (workspace.project / ".claude/settings.json").write_text(json.dumps(settings))
    result, asked = give(workspace, "/hey")
    assert "blocked by hook" in result["result"]
    assert asked == []


@pytest.mark.feature("SKILL-09")
def test_commands_in_the_text_run_where_rules_allow_it(workspace):
    command(workspace, "sh", "Ran: !`touch made.txt && echo done-$0` end")
    refused, asked = give(workspace, "/sh here")
    assert "permission check failed" in refused["result"]
    assert asked == []
    assert not (workspace.project / "made.txt").exists()
    _, (asked,) = give(workspace, "/sh here", "--allowedTools", "Bash(touch:*)", "Bash(echo:*)")
    assert "Ran: done-here end" in asked
    assert (workspace.project / "made.txt").exists()


ANSWERS = {
    "blocks": "echo not that >&2; exit 2",
    "denies": """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'""",
    "asks": """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}'""",
    "changes": """echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "id"}}}'""",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_hook_that_guards_bash_guards_commands_in_the_text(workspace, answer):
    command(workspace, "sh", "Ran: !`touch made.txt` end")
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": answer}]}
    settings = {"hooks": {"PreToolUse": [hook]}}
    (workspace.project / ".claude/settings.json").write_text(json.dumps(settings))
    result, asked = give(workspace, "/sh", "--allowedTools", "Bash(touch:*)")
    assert "PreToolUse hook" in result["result"]
    assert asked == []
    assert not (workspace.project / "made.txt").exists()


@pytest.mark.feature("SKILL-09")
def test_a_command_that_fails_ends_the_turn(workspace):
    command(workspace, "sh", "Ran: !`ls nowhere` end")
    result, asked = give(workspace, "/sh")
    assert 'Shell command failed for pattern "!`ls nowhere`"' in result["result"]
    assert asked == []


def test_what_stands_in_an_argument_is_not_run(workspace):
    command(workspace, "say", "Say: $ARGUMENTS")
    _, (asked,) = give(workspace, "/say !`echo $((40+2))`", "--permission-mode", "bypassPermissions")
    assert "echo $((40+2))" in asked
