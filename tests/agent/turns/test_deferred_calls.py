"""Calls that a hook puts off: the run ends, and the call is run when the session goes on."""

import json

import pytest

from claude_wrapper.agent.sessions.deferred import deferred_in, note_of
from claude_wrapper.store.entries import StoredEntry
from claude_wrapper.testing import ScriptedModel, call, say, turn

pytestmark = pytest.mark.feature("HEVT-02")
SESSION = "55555555-5555-4555-8555-555555555555"
EDITS = ("--permission-mode", "acceptEdits")


def answer(decision, **more):
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}


def settings(output, matcher="Write"):
    hook = {"type": "command", "command": f"cat >> events.txt; printf %s '{json.dumps(output)}'"}
    return ("--settings", json.dumps({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}}))


def stored(entry):
    return StoredEntry(
        **{name: entry[name] for name in ("type", "uuid", "message", "attachment") if name in entry}
    )


@pytest.fixture
def model():
    replies = [call("Write", file_path="w.txt", content="one\n"), say("Written."), say("More."), say("Last.")]
    with ScriptedModel(replies, count_all=True) as script:
        yield script


def left(workspace, model, *argv):
    """A session that was left with a call to be run."""
    talk = workspace.talk(model, "--session-id", SESSION, *EDITS, *(argv or settings(answer("defer"))))
    talk.prompt()
    result = talk.result()
    talk.close()
    assert result["stop_reason"] == "tool_deferred"
    return result


def resumed(workspace, model, *argv, **more):
    talk = workspace.talk(model, "--resume", SESSION, *argv, **more)
    talk.initialize()
    return talk


def texts(request):
    """What the last message of a request says, in short."""
    content = request.body["messages"][-1]["content"]
    return [block.get("content") or block.get("text") for block in content]


def test_the_call_is_run_before_anything_else(workspace, model):
    left(workspace, model)
    assert not (workspace.project / "w.txt").exists()
    talk = resumed(workspace, model, *EDITS)
    result = talk.result()

    assert (workspace.project / "w.txt").read_text() == "one\n"
    assert result["result"] == "Written."
    assert "w.txt" in texts(model.requests[1])[0]
    talk.prompt("on")
    assert talk.result()["result"] == "More."
    assert talk.close() == 0


def test_hooks_are_asked_again_and_may_change_the_call(workspace, model):
    left(workspace, model)
    (workspace.project / "events.txt").unlink()
    path = str(workspace.project / "w.txt")
    changed = answer("allow", updatedInput={"file_path": path, "content": "two\n"})
    resumed(workspace, model, *settings(changed)).result()
    event = json.loads((workspace.project / "events.txt").read_text())

    assert (workspace.project / "w.txt").read_text() == "two\n"
    assert event["tool_use_id"] in json.dumps(model.requests[1].body["messages"])


def test_the_call_is_decided_on_like_any_other(workspace, model):
    left(workspace, model)
    resumed(workspace, model, "--disallowedTools", "Edit(w.txt)", *EDITS).result()

    assert not (workspace.project / "w.txt").exists()
    assert "denied" in texts(model.requests[1])[0]


def test_a_call_may_be_put_off_again(workspace, model):
    left(workspace, model)
    talk = resumed(workspace, model, *EDITS, *settings(answer("defer")))
    assert talk.result()["deferred_tool_use"]["name"] == "Write"
    talk.close()
    assert len(model.requests) == 1
    resumed(workspace, model, *EDITS).result()

    assert (workspace.project / "w.txt").exists()


def test_a_session_goes_on_without_the_call_if_a_prompt_comes_first(workspace, model):
    talk = workspace.talk(model, *EDITS, *settings(answer("defer")))
    talk.prompt()
    talk.result()
    talk.prompt("never mind")
    talk.result()

    assert texts(model.requests[1])[1] == "never mind"
    assert not (workspace.project / "w.txt").exists()


@pytest.mark.parametrize("drop", [False, True])
def test_a_tool_that_is_gone_keeps_the_session_waiting(workspace, model, drop):
    left(workspace, model)
    env = {"CLAUDE_CODE_DROP_UNAVAILABLE_DEFERRED_TOOL": "1"} if drop else {}
    talk = resumed(workspace, model, "--disallowedTools", "Write", env=env)
    first = talk.result()
    talk.prompt("on")
    second = talk.result()

    assert first["stop_reason"] == "tool_deferred_unavailable"
    assert first["is_error"] is True
    assert (second["stop_reason"] == "tool_deferred_unavailable") is not drop
    assert len(model.requests) == 1 + drop


def test_the_other_calls_of_the_reply_run_at_once(workspace):
    reply = turn(
        call("Write", file_path="w.txt", content="one\n"), call("Bash", command="mkdir one"), say("unused")
    )
    with ScriptedModel([reply, say("Written.")], count_all=True) as script:
        left(workspace, script)
        assert (workspace.project / "one").is_dir()
        resumed(workspace, script, *EDITS).result()
        results = script.requests[1].body["messages"][-1]["content"]

    assert (workspace.project / "w.txt").exists()
    assert [block["type"] for block in results] == ["tool_result", "tool_result", "text"]


@pytest.mark.parametrize(
    ("later", "waits"),
    [
        ([], True),
        ([{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "a"}]}}], False),
        ([{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "b"}]}}], True),
        ([{"type": "assistant", "message": {"content": []}}], False),
        ([{"type": "attachment", "attachment": {"type": "hook_deferred_tool"}}], False),
        ([{"type": "attachment", "attachment": {"type": "other"}}], True),
    ],
)
def test_a_call_waits_until_it_has_a_result_or_the_conversation_goes_on(later, waits):
    asked = {"type": "assistant", "uuid": "u", "message": {"content": [{"type": "tool_use", "id": "a"}]}}
    entries = [asked, {"type": "attachment", "attachment": note_of("a", "Write", {}, "default")}, *later]
    assert (deferred_in(map(stored, entries)) is not None) is waits


def test_what_is_no_call_of_the_conversation_is_not_run():
    asked = {"type": "assistant", "uuid": "u", "message": {"content": [{"type": "tool_use", "id": "a"}]}}
    note = {"type": "attachment", "attachment": note_of("b", "Bash", {"command": "id"}, "bypassPermissions")}
    assert deferred_in(map(stored, [asked, note])) is None
    assert deferred_in(map(stored, [note])) is None
