"""Hooks that definitions of subagents and commands bring."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

BASH = call("Bash", command="echo one")
HELP = call("Agent", description="D", prompt="SUBTASK", subagent_type="helper", run_in_background=False)


def head(hooks, **fields):
    return f"---\n{json.dumps({**fields, 'hooks': hooks})}\n---\nYou help.\n"


def on(event, command):
    return {event: [{"hooks": [{"type": "command", "command": command}]}]}


@pytest.fixture
def helped(workspace):
    """A run that calls Bash, lets a helper call it, and calls it again; what was logged."""

    def run(*argv, hello=None):
        replies = [BASH, HELP, BASH, say("done")]
        with ScriptedModel(replies, sub={"SUBTASK": [BASH, say("Found.")]}, count_all=True) as model:
            talk = workspace.talk(model, "--allowedTools", "Bash,Agent", *argv)
            if hello is not None:
                talk.initialize(**hello)
            talk.prompt()
            talk.result()
            assert talk.close() == 0
        log = workspace.project / "log.txt"
        return log.read_text().split() if log.exists() else []

    return run


def written(folder, hooks):
    path = folder / ".claude" / "agents" / "helper.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head(hooks, name="helper", description="Helps"))


@pytest.mark.feature("HOOK-25")
def test_hooks_of_a_definition_run_while_its_subagent_is_at_work(helped, workspace):
    written(workspace.home, on("PostToolUse", "echo own >> log.txt"))

    assert helped() == ["own"]


def test_the_end_of_a_turn_means_the_end_of_the_subagent(helped, workspace):
    written(workspace.home, on("Stop", "grep -o SubagentStop | head -n 1 >> log.txt"))

    assert helped() == ["SubagentStop"]


def test_a_definition_of_a_folder_that_nobody_trusts_brings_no_hooks(helped, workspace):
    written(workspace.project, on("PostToolUse", "echo own >> log.txt"))

    assert helped() == []


def test_a_trusted_folder_brings_them(helped, workspace):
    written(workspace.project, on("PostToolUse", "echo own >> log.txt"))
    trusted = {str(workspace.project.resolve()): {"hasTrustDialogAccepted": True}}
    (workspace.home / ".claude.json").write_text(json.dumps({"projects": trusted}))

    assert helped() == ["own"]


def test_what_turns_hooks_off_turns_these_off(helped, workspace):
    written(workspace.home, on("PostToolUse", "echo own >> log.txt"))

    assert helped("--settings", '{"disableAllHooks": true}') == []


@pytest.mark.feature("HOOK-25")
def test_a_host_brings_them_with_its_definitions(helped):
    helper = {"description": "Helps", "prompt": "Help.", "hooks": on("PreToolUse", "echo own >> log.txt")}

    assert helped(hello={"agents": {"helper": helper}}) == ["own"]


def test_a_definition_whose_hooks_are_wrong_is_none(helped, workspace):
    written(workspace.home, {"PreToolUse": [{"hooks": [{"type": "nonsense"}]}]})
    helper = {"description": "Helps", "prompt": "Help.", "hooks": on("NoSuchEvent", "echo own >> log.txt")}

    assert helped(hello={"agents": {"helper": helper}}) == []


@pytest.mark.feature("HOOK-25")
def test_hooks_of_a_command_stay_for_the_session_and_some_run_once(workspace):
    command = workspace.project / ".claude" / "commands" / "greet.md"
    command.parent.mkdir(parents=True)
    hooks = [
        {"type": "command", "command": "echo often >> often.txt"},
        {"type": "command", "command": "echo once >> once.txt", "once": True},
    ]
    command.write_text(head({"PreToolUse": [{"hooks": hooks}]}))
    replies = [BASH, say("one"), BASH, BASH, say("two"), BASH, say("three")]
    with ScriptedModel(replies, count_all=True) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        for text in ("Go", "/greet", "On"):
            talk.prompt(text)
            talk.result()
        assert talk.close() == 0

    assert (workspace.project / "often.txt").read_text().split() == ["often"] * 3
    assert (workspace.project / "once.txt").read_text().split() == ["once"]
