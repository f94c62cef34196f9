"""The end of stdin at each point: what ends, with which code, and that the transcript is whole."""

import pytest

from claude_wrapper.testing import ScriptedModel, call, say


def test_before_anything_was_said(workspace):
    with ScriptedModel([say("never")]) as model:
        talk = workspace.talk(model)
        assert talk.close() == 0
        assert talk.of("result") == []
        assert model.requests == []


def test_between_initialize_and_the_first_prompt(workspace):
    with ScriptedModel([say("never")]) as model:
        talk = workspace.talk(model)
        talk.initialize()
        assert talk.close() == 0
        assert talk.of("result") == []


@pytest.mark.parametrize("command", ["true", "sleep 0.3"])
def test_while_a_turn_is_at_work(workspace, command):
    with ScriptedModel([call("Bash", command=command), say("done")], order="queue") as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt("go")
        talk.wait(type="assistant")
        assert talk.close() == 0

    assert talk.of("result")[-1]["result"] == "done"
    kinds = [entry["type"] for entry in workspace.entries() if entry["type"] in {"user", "assistant"}]
    assert kinds == ["user", "assistant", "user", "assistant"]


def test_while_a_permission_is_asked_for_the_call_is_refused_and_the_turn_goes_on(workspace):
    with ScriptedModel(
        [call("Write", file_path="n", content="x"), say("never mind")], order="queue"
    ) as model:
        talk = workspace.talk(model, "--permission-prompt-tool", "stdio")
        talk.prompt("go")
        talk.wait(type="control_request", request={"subtype": "can_use_tool"})
        assert talk.close() == 0

    assert not (workspace.project / "n").exists()
    assert [frame["result"] for frame in talk.of("result")] == ["never mind"]
    assert talk.tool_results()[0]["content"].startswith("Tool permission request failed: ")
    kinds = [entry["type"] for entry in workspace.entries() if entry["type"] in {"user", "assistant"}]
    assert kinds == ["user", "assistant", "user", "assistant"]
