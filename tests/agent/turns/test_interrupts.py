"""Interrupts, wherever they find the turn."""

import pytest

from claude_wrapper.testing import ScriptedModel, call, say, stall, turn

ID = "{0}{0}{0}{0}{0}{0}{0}{0}-0000-4000-8000-000000000000".format
BY_USER = "[Request interrupted by user]"
IN_TOOLS = "[Request interrupted by user for tool use]"


def notes(talk):
    return [
        block["text"]
        for frame in talk.of("user")
        if isinstance(frame["message"]["content"], list)
        for block in frame["message"]["content"]
        if block["type"] == "text"
    ]


@pytest.mark.feature("STREAM-04", "RES-09")
def test_while_text_streams_the_half_said_is_kept(workspace):
    with ScriptedModel(
        [turn(say("one two three"), chunk=4) + stall("rest", after_block=0, after_chunks=2), say("again")],
        order="queue",
    ) as model:
        talk = workspace.talk(model, "--include-partial-messages")
        talk.prompt("first")
        talk.wait(type="stream_event", event={"type": "content_block_delta", "delta": {"text": "two "}})
        assert talk.ask("interrupt")["response"] == {"still_queued": []}
        result = talk.result()
        model.gate("rest").release()
        talk.prompt("second")
        again = talk.result()

    partial = talk.of("assistant")[0]
    assert partial["message"]["content"] == [{"type": "text", "text": "one two "}]
    assert partial["aborted"] is True
    assert notes(talk) == [BY_USER]
    assert (result["subtype"], result["terminal_reason"]) == ("error_during_execution", "aborted_streaming")
    assert (result["stop_reason"], result["num_turns"]) == (None, 2)
    assert again["result"] == "again"
    history = model.requests[1].messages
    assert history[1]["content"][0]["text"] == "one two "
    assert history[2]["content"][0]["text"] == BY_USER
    ends = [f for f in talk.of("stream_event") if f["event"]["type"] == "message_stop"]
    assert ends[0]["abandoned_blocks"]["from_block_index"] == 1


def test_while_a_command_runs_it_is_killed_with_all_it_started(workspace, alive, eventually):
    command = "sleep 300 & echo $! > pid; sleep 300"
    with ScriptedModel([call("Bash", command=command), say("again")], order="queue") as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt("first")
        talk.wait(type="assistant")
        eventually(
            lambda: (workspace.project / "pid").exists() and (workspace.project / "pid").read_text().strip()
        )
        pid = int((workspace.project / "pid").read_text())
        assert alive(pid)
        talk.control("i", "interrupt")
        result = talk.result()
        eventually(lambda: not alive(pid))
        talk.prompt("second")
        assert talk.result()["result"] == "again"

    assert talk.tool_results()[0]["content"].startswith(
        "The user doesn't want to proceed with this tool use."
    )
    assert notes(talk) == [IN_TOOLS]
    assert (result["terminal_reason"], result["stop_reason"], result["num_turns"]) == (
        "aborted_tools",
        "tool_use",
        3,
    )
    answered = model.requests[1].messages[2]["content"]
    assert [block["type"] for block in answered] == ["tool_result", "text", "text"]


def test_while_a_question_is_open_it_is_withdrawn_first(workspace):
    with ScriptedModel([call("Write", file_path="n", content="x"), say("again")], order="queue") as model:
        talk = workspace.talk(model, "--permission-prompt-tool", "stdio")
        talk.prompt("first")
        question = talk.wait(type="control_request")
        talk.control("i", "interrupt")
        result = talk.result()

    kinds = [frame["type"] for frame in talk.frames]
    assert kinds.index("control_cancel_request") < kinds.index("control_response") < kinds.index("user")
    assert talk.of("control_cancel_request")[0]["request_id"] == question["request_id"]
    assert len(result["permission_denials"]) == 1


def test_while_a_hook_is_asked_the_question_is_withdrawn_and_the_tool_stays_undone(workspace):
    with ScriptedModel([call("Bash", command="touch ran"), say("never")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.initialize(hooks={"PreToolUse": [{"hookCallbackIds": ["h"]}]})
        talk.prompt()
        talk.wait(type="control_request")
        talk.control("i", "interrupt")
        result = talk.result()

    assert result["terminal_reason"] == "aborted_tools"
    assert not (workspace.project / "ran").exists()


def test_when_only_a_stop_hook_is_asked_the_work_counts_as_done(workspace):
    with ScriptedModel([say("done")]) as model:
        talk = workspace.talk(model)
        talk.initialize(hooks={"Stop": [{"hookCallbackIds": ["h"]}]})
        talk.prompt()
        talk.wait(type="control_request")
        talk.control("i", "interrupt")
        result = talk.result()

    assert (result["subtype"], result["result"]) == ("success", "done")


def test_before_the_model_says_anything(workspace):
    with ScriptedModel([stall("late") + say("late"), say("again")], order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt("first")
        model.wait_request(1)
        talk.control("i", "interrupt")
        result = talk.result()
        model.gate("late").release()
        talk.prompt("second")
        assert talk.result()["result"] == "again"

    assert (result["terminal_reason"], result["num_turns"]) == ("aborted_streaming", 2)
    assert result["usage"]["input_tokens"] == 0


def test_with_no_turn_running_nothing_happens(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        assert talk.ask("interrupt")["response"] == {"still_queued": []}
        talk.prompt()
        assert talk.result()["result"] == "hi"
        assert talk.close() == 0


def test_prompts_that_wait_are_named_and_run_next(workspace):
    with ScriptedModel([call("Bash", command="sleep 300"), say("second")], order="queue") as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt("one", uuid=ID(1))
        talk.wait(type="assistant")
        talk.prompt("two", uuid=ID(2))
        talk.wait(type="command_lifecycle", command_uuid=ID(2))
        assert talk.ask("interrupt")["response"] == {"still_queued": [ID(2)]}
        talk.result()
        assert talk.result()["result"] == "second"


def test_prompts_that_wait_may_be_dropped_with_the_turn(workspace):
    with ScriptedModel([call("Bash", command="sleep 300")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt("one", uuid=ID(1))
        talk.wait(type="assistant")
        talk.prompt("two", uuid=ID(2))
        talk.wait(type="command_lifecycle", command_uuid=ID(2))
        answer = talk.ask("interrupt", cancel_queued=True)["response"]
        talk.result()
        assert talk.close() == 1

    assert answer == {"still_queued": [], "cancelled": [ID(2)]}
    states = [f["state"] for f in talk.of("command_lifecycle") if f["command_uuid"] == ID(2)]
    assert states == ["queued", "cancelled"]
    assert len(talk.of("result")) == 1


def test_while_text_follows_a_call_what_the_call_did_is_kept(workspace):
    first = turn(call("Bash", command="echo did it > mark; echo done"), say("and now"))
    with ScriptedModel([first + stall("rest", after_block=1, after_chunks=1), say("again")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.initialize()
        talk.prompt()
        # The result is shown although the reply goes on.
        talk.wait(type="user")
        talk.control("stop", "interrupt")
        talk.result()
        talk.prompt("again")
        talk.result()

    assert [result["content"] for result in talk.tool_results()] == ["done"]
    results = [
        block
        for message in model.requests[-1].messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert [result["content"] for result in results] == ["done"]


def test_a_second_interrupt_in_a_tool_changes_nothing(workspace, eventually):
    command = "echo on > begun; sleep 300"
    with ScriptedModel([call("Bash", command=command), say("again")], order="queue") as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt("first")
        eventually((workspace.project / "begun").exists)
        talk.control("i", "interrupt")
        talk.control("j", "interrupt")
        assert talk.result()["terminal_reason"] == "aborted_tools"
        talk.prompt("second")
        assert talk.result()["result"] == "again"
        assert talk.close() == 0

    answers = {f["response"]["request_id"]: f["response"]["subtype"] for f in talk.of("control_response")}
    assert answers == {"i": "success", "j": "success"}
    assert len(talk.of("result")) == 2
