"""Auto mode: rules and harmless calls settle themselves, a model is asked about the rest."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

AUTO = ("--permission-mode", "auto", "--model", "claude-opus-4-6")
STDIO = ("--permission-prompt-tool", "stdio")
BLOCK = say('{"block": true, "reason": "It leaves the project."}')
PASS = say('Well: {"block": false, "reason": "fine"}')


def bash(command):
    return call("Bash", command=command, description="Do it")


def checks(model):
    """The questions that were put beside the conversation: they offer no tools."""
    return [request.body for request in model.requests if not request.body.get("tools")]


def play(workspace, turns, *argv):
    with ScriptedModel(turns, order="queue", toolless=True) as model:
        talk = workspace.talk(model, *AUTO, *argv)
        talk.prompt("Please tidy up.")
        return talk, model, talk.result()


@pytest.mark.feature("PERM-15")
def test_a_call_that_the_check_lets_through_runs(workspace):
    talk, model, result = play(workspace, [bash("ln -s x made"), PASS, say("done")])

    assert (workspace.project / "made").is_symlink()
    assert result["permission_denials"] == []
    meta = talk.of("user")[-1]["tool_result_meta"][0]["permission_decision"]
    assert meta == {"decision": "accept", "source": "config", "reason_type": "classifier"}
    assert len(checks(model)) == 1


@pytest.mark.feature("PERM-15", "PERM-29")
def test_a_blocked_call_does_not_run_and_the_model_reads_why(workspace):
    talk, _, result = play(workspace, [bash("ln -s x made"), BLOCK, say("done")])

    assert not (workspace.project / "made").is_symlink()
    assert talk.tool_results()[0]["content"].startswith("Blocked by classifier: It leaves the project.")
    denied = talk.of("system", "permission_denied")[0]
    assert denied["decision_reason_type"] == "classifier"
    assert [each["tool_name"] for each in result["permission_denials"]] == ["Bash"]
    assert result["subtype"] == "success"


@pytest.mark.feature("PERM-15")
@pytest.mark.parametrize("answer", ["I would say yes.", '{"block": "no"}', "{", ""])
def test_a_check_without_a_verdict_lets_nothing_through(workspace, answer):
    talk, _, _ = play(workspace, [bash("ln -s x made"), say(answer), say("done")])

    assert not (workspace.project / "made").is_symlink()
    meta = talk.of("user")[-1]["tool_result_meta"][0]
    assert meta["non_execution_kind"] == "automode-unavailable"


@pytest.mark.feature("PERM-15")
def test_reading_and_editing_in_the_project_and_what_rules_settle_is_not_checked(workspace):
    turns = [
        bash("ls"),
        call("Write", file_path=str(workspace.project / "n.txt"), content="x\n"),
        bash("mkdir d"),
        bash("ln -s x f"),
        bash("touch e"),
        say("done"),
    ]
    rules = ("--allowedTools", "Bash(ln -s x f)", "--disallowedTools", "Bash(touch:*)")
    talk, model, _ = play(workspace, turns, *rules)

    assert [each.get("is_error") for each in talk.tool_results()] == [False, None, False, False, True]
    assert checks(model) == []


@pytest.mark.feature("PERM-08", "PERM-09", "PERM-15")
def test_protected_files_are_checked_and_critical_removals_wait_for_a_person(workspace):
    turns = [
        call("Write", file_path=str(workspace.project / ".git" / "config"), content="x\n"),
        BLOCK,
        bash("rm -rf ~"),
        say("done"),
    ]
    talk, model, _ = play(workspace, turns, "--allowedTools", "Edit(.git/**)", "Bash(rm:*)")

    assert [each["is_error"] for each in talk.tool_results()] == [True, True]
    assert len(checks(model)) == 1
    assert talk.of("system", "permission_denied")[1]["decision_reason_type"] == "safetyCheck"


@pytest.mark.feature("PERM-16")
def test_broad_rules_are_set_aside_and_narrow_ones_stay(workspace):
    turns = [bash("ln -s x a"), BLOCK, bash("python3 -c 1"), BLOCK, bash("ln -s x b"), say("done")]
    rules = ("--allowedTools", "Bash(*)", "Bash(python3:*)", "Bash(npm run *)", "Bash(ln -s x b)")
    talk, model, _ = play(workspace, turns, *rules)

    assert [each["is_error"] for each in talk.tool_results()] == [True, True, False]
    assert len(checks(model)) == 2


@pytest.mark.feature("PERM-17")
def test_the_check_sees_what_the_user_said_and_the_agent_did_and_no_results(workspace):
    (workspace.project / "page.txt").write_text("SECRET OF THE PAGE\n")
    turns = [
        call("Read", file_path=str(workspace.project / "page.txt")),
        bash("echo SAID BY A PROGRAM"),
        bash("ln -s x y"),
        BLOCK,
        say("done"),
    ]
    _, model, _ = play(workspace, turns)

    text = checks(model)[0]["messages"][0]["content"][0]["text"]
    told = json.loads(text)
    assert told["about_to_do"] == {"tool": "Bash", "input": {"command": "ln -s x y", "description": "Do it"}}
    assert {"user": "Please tidy up."} in told["so_far"]
    assert "SECRET OF THE PAGE" not in text
    assert "page.txt" not in text
    assert text.count("SAID BY A PROGRAM") == 1


@pytest.mark.feature("PERM-17")
def test_after_three_blocks_in_a_row_a_person_is_asked(workspace):
    turns = []
    for name in "abc":
        turns += [bash(f"ln -s x {name}"), BLOCK]
    with ScriptedModel([*turns, bash("ln -s x d"), say("done")], order="queue", toolless=True) as model:
        talk = workspace.talk(model, *AUTO, *STDIO)
        talk.prompt()
        question = talk.wait(type="control_request", request={"subtype": "can_use_tool"})
        talk.answer(question, {"behavior": "allow", "updatedInput": question["request"]["input"]})
        talk.result()

    assert question["request"]["input"]["command"] == "ln -s x d"
    assert (workspace.project / "d").is_symlink()


@pytest.mark.feature("PERM-17")
def test_with_nobody_to_ask_blocked_calls_do_not_run_and_the_run_goes_on(workspace):
    turns = []
    for name in "abcd":
        turns += [bash(f"ln -s x {name}"), BLOCK]
    _, model, result = play(workspace, [*turns, say("done")])

    assert len(result["permission_denials"]) == 4
    assert result["subtype"] == "success"
    assert len(checks(model)) == 4


@pytest.mark.feature("PERM-18", "PERM-19")
@pytest.mark.parametrize(
    ("model", "settings", "mode"),
    [
        ("claude-opus-4-6", {}, "auto"),
        ("claude-sonnet-4-5", {}, "default"),
        ("claude-opus-4-6", {"permissions": {"disableAutoMode": "disable"}}, "default"),
    ],
)
def test_auto_needs_a_model_that_takes_it_and_settings_that_do_not_forbid_it(
    workspace, model, settings, mode
):
    with ScriptedModel([say("done")]) as served:
        argv = ("--permission-mode", "auto", "--model", model, "--settings", json.dumps(settings))
        talk = workspace.talk(served, *argv)
        talk.prompt()
        talk.result()
        answer = talk.ask("set_permission_mode", mode="auto")

    assert talk.of("system", "init")[0]["permissionMode"] == mode
    assert (answer["subtype"] == "success") is (mode == "auto")
