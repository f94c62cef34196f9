"""Calls that rules do not settle: who is asked, and what the answers do."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

STDIO = ("--permission-prompt-tool", "stdio")
HOST = {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}


def write(name="n.txt", content="x\n"):
    return call("Write", file_path=name, content=content)


@pytest.mark.feature("PERM-21", "PERM-22")
def test_an_allowed_call_runs_and_the_session_says_that_it_waited(workspace):
    with ScriptedModel([write(), say("done")]) as model:
        talk = workspace.talk(model, *STDIO, env=HOST)
        talk.prompt()
        question = talk.wait(type="control_request")
        assert question["request"]["tool_name"] == "Write"
        assert question["request"]["input"]["file_path"] == str(workspace.project / "n.txt")
        assert not (workspace.project / "n.txt").exists()
        talk.answer(question, {"behavior": "allow"})
        talk.result()
        talk.wait(subtype="session_state_changed", state="idle")

    assert (workspace.project / "n.txt").read_text() == "x\n"
    states = [frame["state"] for frame in talk.of("system", "session_state_changed")]
    assert states == ["running", "requires_action", "running", "idle"]
    assert {frame["sdk_host_only"] for frame in talk.of("system", "session_state_changed")} == {True}


@pytest.mark.feature("LOOP-20", "PERM-28")
def test_a_denial_is_told_to_the_model_and_listed_in_the_result(workspace):
    with ScriptedModel([write(), say("done")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.answer(talk.wait(type="control_request"), {"behavior": "deny", "message": "Not this file."})
        result = talk.result()

    (block,) = talk.tool_results()
    assert (block["content"], block["is_error"]) == ("Not this file.", True)
    assert model.requests[1].messages[-1]["content"][0]["content"] == "Not this file."
    assert [denial["tool_name"] for denial in result["permission_denials"]] == ["Write"]
    assert result["subtype"] == "success"
    assert not (workspace.project / "n.txt").exists()


@pytest.mark.feature("PERM-22")
def test_the_host_may_run_the_call_with_another_input(workspace):
    with ScriptedModel([write(), say("done")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        other = {"file_path": str(workspace.project / "o.txt"), "content": "two\n"}
        talk.answer(talk.wait(type="control_request"), {"behavior": "allow", "updatedInput": other})
        talk.result()

    assert (workspace.project / "o.txt").read_text() == "two\n"
    assert talk.of("assistant")[0]["message"]["content"][0]["input"]["file_path"] == "n.txt"
    assert talk.of("user")[0]["tool_use_result"]["userModified"] is True


@pytest.mark.feature("PERM-22", "STREAM-04")
def test_a_denial_with_interrupt_ends_the_turn(workspace):
    with ScriptedModel([write(), say("never")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.answer(
            talk.wait(type="control_request"), {"behavior": "deny", "message": "No!", "interrupt": True}
        )
        result = talk.result()

    assert (result["subtype"], result["terminal_reason"]) == ("error_during_execution", "aborted_tools")
    assert len(model.requests) == 1
    assert (
        talk.of("user")[-1]["message"]["content"][0]["text"] == "[Request interrupted by user for tool use]"
    )


@pytest.mark.feature("PERM-10", "PERM-29")
def test_without_anybody_to_ask_the_call_is_denied_and_the_denial_announced(workspace):
    with ScriptedModel([write(), say("done")]) as model:
        talk = workspace.talk(model)
        talk.prompt()
        result = talk.result()

    (denied,) = talk.of("system", "permission_denied")
    assert denied["tool_name"] == "Write"
    assert talk.tool_results()[0]["content"] == denied["message"]
    assert len(result["permission_denials"]) == 1


@pytest.mark.parametrize("answer", [{"behavior": "maybe"}, {}, "no object"])
def test_an_answer_that_cannot_be_read_denies(workspace, answer):
    with ScriptedModel([write(), say("done")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.answer(talk.wait(type="control_request"), answer)
        talk.result()

    assert talk.tool_results()[0]["is_error"] is True
    assert not (workspace.project / "n.txt").exists()


def test_a_failing_callback_denies(workspace):
    with ScriptedModel([write(), say("done")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.fail(talk.wait(type="control_request"), "callback broke")
        talk.result()

    assert talk.tool_results()[0]["content"] == "Tool permission request failed: Error: callback broke"


def test_the_end_of_stdin_denies_what_was_asked_and_the_turn_goes_on(workspace):
    with ScriptedModel([write(), say("done")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.wait(type="control_request")
        assert talk.close() == 0

    assert "Tool permission stream closed" in talk.tool_results()[0]["content"]
    assert talk.of("result")[0]["result"] == "done"


def test_questions_are_put_one_after_the_other(workspace):
    with ScriptedModel([write("a") + write("b"), say("done")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        first = talk.wait(type="control_request")
        talk.answer(first, {"behavior": "allow"})
        result = talk.wait(type="user")
        second = talk.wait(type="control_request")
        talk.answer(second, {"behavior": "deny", "message": "no"})
        talk.result()

    assert result["message"]["content"][0]["tool_use_id"] == first["request"]["tool_use_id"]
    assert (workspace.project / "a").exists()
    assert not (workspace.project / "b").exists()


@pytest.mark.feature("PERM-23")
def test_the_suggestions_of_an_answer_hold_for_later_calls_and_last(workspace):
    with ScriptedModel(
        [call("Bash", command="touch a"), call("Bash", command="touch a"), write(), say("done")]
    ) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        question = talk.wait(type="control_request")
        suggested = question["request"]["permission_suggestions"]
        talk.answer(question, {"behavior": "allow", "updatedPermissions": suggested})
        talk.result()

    assert len(talk.of("control_request")) == 1
    assert talk.of("system", "status")[0]["permissionMode"] == "acceptEdits"
    kept = json.loads((workspace.project / ".claude" / "settings.local.json").read_text())
    assert kept["permissions"]["allow"] == ["Bash(touch a *)"]


@pytest.mark.feature("HEVT-03")
def test_what_must_fail_fails_before_anybody_is_asked(workspace):
    (workspace.project / "old.txt").write_text("x")
    reply = (
        call("Edit", file_path="old.txt", old_string="x", new_string="y") + call("Nope", a=1) + call("Bash")
    )
    with ScriptedModel([reply, say("done")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.result()

    assert talk.of("control_request") == []
    contents = {block["content"] for block in talk.tool_results()}
    assert "<tool_use_error>Error: No such tool available: Nope</tool_use_error>" in contents
    assert all(content.startswith("<tool_use_error>") for content in contents)
    assert all("tool_result_meta" not in frame for frame in talk.of("user"))


@pytest.mark.feature("RULE-10", "RULE-14", "PERM-28")
def test_a_denied_path_is_denied_before_anything_is_told_of_what_lies_there(workspace):
    (workspace.project / "locked").mkdir()
    (workspace.project / "locked" / "old.txt").write_text("x")
    (workspace.project / "link").symlink_to("locked")
    paths = ("locked/old.txt", "locked/new.txt", "link/old.txt", "link/new.txt", "sub/../locked/old.txt")
    argv = ("--disallowedTools", "Edit(locked/**)")
    with ScriptedModel([*(write(path) for path in paths), say("done")]) as model:
        talk = workspace.talk(model, *STDIO, *argv)
        talk.prompt()
        result = talk.result()

    there, not_there, linked, not_linked, roundabout = (block["content"] for block in talk.tool_results())
    assert there == not_there == roundabout
    assert linked.replace("old.txt", "new.txt") == not_linked
    listed = [denial["tool_input"]["file_path"] for denial in result["permission_denials"]]
    full = [str(workspace.project / path) for path in paths]
    assert listed == [*full[:-1], full[0]]
    assert talk.of("control_request") == []


def test_a_tool_that_breaks_down_over_its_input_is_a_result_like_others(workspace):
    notebook = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    (workspace.project / "n.ipynb").write_text(notebook)
    number = "cell-" + "9" * 5000
    edit = call("NotebookEdit", notebook_path="n.ipynb", new_source="1", cell_id=number)
    with ScriptedModel([call("Read", file_path="n.ipynb"), edit, say("done")]) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        result = talk.result()

    assert talk.tool_results()[1]["content"].startswith("<tool_use_error>ValueError: ")
    assert result["result"] == "done"


@pytest.mark.feature("PERM-14")
def test_bypassing_as_root_is_refused_outside_a_sandbox(workspace):
    with ScriptedModel([]) as model:
        code, out, err = workspace.run(model, "-p", "x", "--dangerously-skip-permissions")

    import os

    if os.geteuid() == 0:
        assert (code, out) == (1, "")
        assert "cannot be used with root/sudo privileges" in err


@pytest.mark.feature("PERM-14", "LOOP-23")
def test_a_deny_rule_holds_even_when_everything_else_is_bypassed(workspace):
    with ScriptedModel([call("Bash", command="rm q"), call("Bash", command="touch w"), say("done")]) as model:
        argv = ("--permission-mode", "bypassPermissions", "--disallowedTools", "Bash(rm *)")
        talk = workspace.talk(model, *argv, env={"IS_SANDBOX": "1"})
        talk.prompt()
        talk.result()

    first, second = talk.tool_results()
    assert first["content"] == "Permission to use Bash with command rm q has been denied."
    assert second["is_error"] is False


@pytest.mark.feature("PERM-05")
def test_a_tool_that_is_denied_as_a_whole_is_not_offered(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model, "--disallowedTools", "Bash,Read(./x)")
        talk.prompt()
        talk.result()

    offered = [tool["name"] for tool in model.requests[0].body["tools"]]
    assert "Bash" not in offered
    assert "Read" in offered
    assert "Bash" not in talk.frames[0]["tools"]


@pytest.mark.feature("PERM-18")
def test_another_mode_holds_for_the_very_next_call(workspace):
    with ScriptedModel([write("a"), say("done")], order="queue") as model:
        talk = workspace.talk(model, *STDIO)
        assert talk.ask("set_permission_mode", mode="acceptEdits")["response"] == {"mode": "acceptEdits"}
        assert talk.wait(subtype="status")["permissionMode"] == "acceptEdits"
        talk.prompt()
        talk.result()
        refused = talk.ask("set_permission_mode", mode="bypassPermissions")
        unknown = talk.ask("set_permission_mode", mode="nonsense")

    assert talk.of("control_request") == []
    assert "was not launched with --dangerously-skip-permissions" in refused["error"]
    assert "acceptEdits, auto, bypassPermissions, default, dontAsk, plan" in unknown["error"]


@pytest.mark.feature("PERM-32")
def test_a_folder_that_nobody_trusts_grants_nothing(workspace):
    folder = workspace.project / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"permissions": {"allow": ["Write"], "deny": ["Bash"]}}))
    with ScriptedModel([write(), say("done")]) as model:
        talk = workspace.talk(model)
        talk.prompt()
        talk.result()
        talk.close()
        offered = [tool["name"] for tool in model.requests[0].body["tools"]]

    assert talk.tool_results()[0]["is_error"] is True
    assert "has not been trusted" in talk.errors.decode()
    assert "Bash" not in offered

    (workspace.home / ".claude.json").write_text(
        json.dumps({"projects": {str(workspace.project): {"hasTrustDialogAccepted": True}}})
    )
    with ScriptedModel([write(), say("done")]) as model:
        trusted = workspace.talk(model)
        trusted.prompt()
        trusted.result()

    assert trusted.tool_results()[0].get("is_error") is None
