"""Prompts that come while a turn runs, or several at once."""

import pytest

from claude_wrapper.testing import ScriptedModel, call, say, stall

ID = "{0}{0}{0}{0}{0}{0}{0}{0}-0000-4000-8000-000000000000".format
WAIT = call("Bash", command="until [ -e go ]; do sleep 0.01; done; echo one")


def lifecycle(talk, uuid):
    return [f["state"] for f in talk.of("command_lifecycle") if f["command_uuid"] == uuid]


@pytest.mark.feature("STREAM-02")
def test_a_prompt_during_a_tool_joins_the_running_turn(workspace):
    with ScriptedModel([WAIT, say("both")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash", "--replay-user-messages")
        talk.prompt("first", uuid=ID(1))
        talk.wait(type="assistant")
        talk.prompt("second", uuid=ID(2))
        talk.wait(type="command_lifecycle", command_uuid=ID(2), state="queued")
        (workspace.project / "go").touch()
        result = talk.result()
        talk.wait(type="command_lifecycle", command_uuid=ID(1), state="completed")

    assert result["result"] == "both"
    assert result["user_message_uuids"] == [ID(1), ID(2)]
    assert lifecycle(talk, ID(2)) == ["queued", "started", "completed"]
    last = model.requests[1].messages[-1]["content"]
    assert [block["type"] for block in last] == ["tool_result", "text"]
    assert last[1]["text"] == "second"


def test_a_later_prompt_gets_a_turn_of_its_own(workspace):
    with ScriptedModel([WAIT, say("first done"), say("second done")], order="queue") as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt("first")
        talk.wait(type="assistant")
        talk.prompt("second", uuid=ID(2), priority="later")
        talk.wait(type="command_lifecycle", command_uuid=ID(2))
        (workspace.project / "go").touch()
        assert talk.result()["result"] == "first done"
        assert talk.result()["result"] == "second done"


def test_an_urgent_prompt_ends_the_turn_once_its_command_has_ended(workspace, eventually):
    command = "touch running; until [ -e go ]; do sleep 0.05; done; echo one"
    with ScriptedModel([call("Bash", command=command), say("urgent done")], order="queue") as model:
        talk = workspace.talk(model, "--allowedTools", "Bash", "--include-partial-messages")
        talk.prompt("first", uuid=ID(1))
        talk.wait(type="stream_event", event={"type": "message_stop"})
        eventually((workspace.project / "running").exists)
        talk.prompt("second", uuid=ID(2), priority="now")
        talk.wait(type="command_lifecycle", command_uuid=ID(2), state="queued")
        (workspace.project / "go").touch()
        cut = talk.result()
        assert talk.result()["result"] == "urgent done"

    assert (cut["subtype"], cut["is_error"], cut["terminal_reason"]) == ("success", False, "aborted_tools")
    assert lifecycle(talk, ID(1))[-1] == "cancelled"
    assert talk.tool_results()[0]["content"] == "one"


def test_an_urgent_prompt_takes_an_open_question_back(workspace):
    with ScriptedModel(
        [call("Write", file_path="n", content="x"), say("urgent done")], order="queue"
    ) as model:
        talk = workspace.talk(model, "--permission-prompt-tool", "stdio")
        talk.prompt("first", uuid=ID(1))
        question = talk.wait(type="control_request", request={"subtype": "can_use_tool"})
        talk.prompt("second", uuid=ID(2), priority="now")
        assert talk.wait(type="control_cancel_request")["request_id"] == question["request_id"]
        cut = talk.result()
        assert talk.result()["result"] == "urgent done"

    assert (cut["subtype"], cut["terminal_reason"]) == ("success", "aborted_tools")
    assert [denied["tool_name"] for denied in cut["permission_denials"]] == ["Write"]
    assert talk.tool_results()[0]["is_error"] is True
    assert not (workspace.project / "n").exists()


def test_a_prompt_that_waits_can_be_taken_back(workspace):
    with ScriptedModel([WAIT, say("done")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt("first")
        talk.wait(type="assistant")
        talk.prompt("second", uuid=ID(2), priority="later")
        answer = talk.ask("cancel_async_message", message_uuid=ID(2))["response"]
        unknown = talk.ask("cancel_async_message", message_uuid=ID(9))["response"]
        (workspace.project / "go").touch()
        talk.result()
        assert talk.close() == 0

    assert answer == {"cancelled": True, "message_uuid": ID(2)}
    assert unknown == {"cancelled": False}
    assert lifecycle(talk, ID(2)) == ["queued", "cancelled"]
    assert len(talk.of("result")) == 1


@pytest.mark.feature("STREAM-02")
def test_prompts_that_wait_for_the_end_of_a_turn_share_the_next(workspace):
    with ScriptedModel([stall("first") + say("one"), say("rest")], order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt("A", uuid=ID(1))
        model.wait_request(1)
        talk.prompt("B", uuid=ID(2))
        talk.prompt("C", uuid=ID(3))
        talk.wait(type="command_lifecycle", command_uuid=ID(3), state="queued")
        model.gate("first").release()
        talk.result()
        result = talk.result()
        assert talk.close() == 0

    assert result["user_message_uuids"] == [ID(2), ID(3)]
    assert model.requests[1].messages[-1]["content"][0]["text"] == "B\nC"
    assert len(talk.of("result")) == 2


@pytest.mark.feature("STREAM-03")
def test_prompts_are_echoed_when_they_are_taken_in_and_a_repeated_one_is_not_answered(workspace):
    with ScriptedModel([say("one")]) as model:
        talk = workspace.talk(model, "--replay-user-messages")
        talk.prompt("A", uuid=ID(1))
        talk.result()
        talk.prompt("A", uuid=ID(1))
        assert talk.close() == 0

    echoes = [(f["uuid"], f["message"]["content"], f["isReplay"]) for f in talk.of("user")]
    assert echoes == [(ID(1), "A", True)] * 2
    assert len(model.requests) == 1


@pytest.mark.feature("STREAM-07")
def test_a_blank_prompt_is_not_sent(workspace):
    with ScriptedModel([]) as model:
        talk = workspace.talk(model)
        talk.prompt("  \n ")
        result = talk.result()

    assert result["result"].startswith("Blank prompt")
    assert result["num_turns"] == 0


def test_a_prompt_may_only_be_added(workspace):
    with ScriptedModel([say("noted")]) as model:
        talk = workspace.talk(model)
        talk.prompt("remember: blue", shouldQuery=False)
        quiet = talk.result()
        talk.prompt("which colour?")
        talk.result()

    assert (quiet["subtype"], quiet["result"], quiet["num_turns"]) == ("success", "", 0)
    assert "remember: blue" in str(model.requests[0].messages)


@pytest.mark.feature("STREAM-01")
def test_pictures_reach_the_model_as_they_came(workspace):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    with ScriptedModel([say("nice")]) as model:
        talk = workspace.talk(model)
        talk.prompt([{"type": "text", "text": "look"}, picture])
        talk.result()

    sent = model.requests[0].messages[0]["content"]
    assert sent[1]["source"] == picture["source"]
