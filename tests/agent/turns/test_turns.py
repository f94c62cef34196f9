"""A turn: prompts in, requests to the model, tools, one result out."""

import pytest

from claude_wrapper.testing import ScriptedModel, call, fail, say, stall, think, turn


@pytest.mark.feature("LOOP-01", "LOOP-05", "LOOP-06", "TOOL-16")
def test_the_model_is_asked_until_it_calls_no_tool_any_more(workspace):
    (workspace.project / "a.txt").write_text("alpha\n")
    with ScriptedModel(
        [call("Bash", command="echo hi"), call("Read", file_path="a.txt"), say("done")]
    ) as model:
        talk = workspace.talk(model)
        talk.prompt()
        result = talk.result()

    assert len(model.requests) == 3
    assert result["result"] == "done"
    assert result["num_turns"] == 3
    bash, read = talk.of("user")
    assert bash["tool_use_result"]["stdout"] == "hi"
    assert (
        model.requests[1].messages[-1]["content"][0]["tool_use_id"] == talk.tool_results()[0]["tool_use_id"]
    )
    assert read["message"]["content"][0]["content"] == "1\talpha\n2\t"
    assert talk.close() == 0


@pytest.mark.feature("LOOP-02")
def test_a_turn_begins_with_an_init_frame_that_says_with_what_it_works(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model, "--permission-mode", "acceptEdits")
        talk.prompt()
        talk.result()

    init = talk.frames[0]
    assert (init["type"], init["subtype"]) == ("system", "init")
    assert init["cwd"] == str(workspace.project)
    assert init["model"] == "claude-sonnet-4-5"
    assert init["permissionMode"] == "acceptEdits"
    assert init["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert {"Bash", "Read", "Edit", "Write"} <= set(init["tools"])
    assert tuple(map(int, init["claude_code_version"].split("."))) >= (2, 1, 248)
    assert {"mcp_servers", "slash_commands", "agents", "skills", "plugins", "output_style"} <= init.keys()


@pytest.mark.feature("LOOP-04", "COST-02")
def test_every_block_of_a_reply_has_a_frame_of_its_own(workspace):
    reply = say("look") + call("Bash", command="echo 1") + call("Bash", command="echo 2")
    with ScriptedModel([reply, say("done")]) as model:
        talk = workspace.talk(model)
        talk.prompt()
        talk.result()

    first = talk.of("assistant")[:3]
    assert [frame["message"]["content"][0]["type"] for frame in first] == ["text", "tool_use", "tool_use"]
    assert len({frame["message"]["id"] for frame in first}) == 1
    assert {frame["message"]["stop_reason"] for frame in first} == {None}
    assert {frame["message"]["usage"]["output_tokens"] for frame in first} == {1}


@pytest.mark.feature("LOOP-18")
def test_calls_that_only_read_run_together_and_their_results_go_back_in_order(workspace):
    with ScriptedModel(
        [
            call("Bash", command="until [ -e go ]; do sleep 0.01; done; cat a")
            + call("Bash", command="cat b"),
            say("done"),
        ]
    ) as model:
        (workspace.project / "a").write_text("A")
        (workspace.project / "b").write_text("B")
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt()
        talk.wait(type="assistant")
        talk.wait(type="assistant")
        (workspace.project / "go").touch()
        talk.result()

    sent = model.requests[1].messages[-1]["content"]
    assert [block["content"] for block in sent] == ["A", "B"]


def test_a_call_that_changes_something_waits_for_those_before_it(workspace):
    reply = (
        call("Bash", command="sleep 0.2; cat a")
        + call("Write", file_path="b", content="new")
        + call("Bash", command="cat b")
    )
    (workspace.project / "a").write_text("A")
    with ScriptedModel([reply, say("done")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash,Write")
        talk.prompt()
        talk.result()

    contents = [block["content"] for block in talk.tool_results()]
    assert contents[0] == "A"
    assert contents[1].startswith("File created successfully")
    assert contents[2] == "new"


@pytest.mark.feature("LOOP-08", "RES-08")
def test_the_turn_limit_counts_replies_and_names_itself(workspace):
    with ScriptedModel(
        [call("Bash", command="echo 1"), call("Bash", command="echo 2"), say("never")]
    ) as model:
        talk = workspace.talk(model, "--max-turns", "2")
        talk.prompt()
        result = talk.result()
        code = talk.close()

    assert result["subtype"] == "error_max_turns"
    assert result["errors"] == ["Reached maximum number of turns (2)"]
    assert result["num_turns"] == 3
    assert result["stop_reason"] == "tool_use"
    assert "result" not in result
    assert len(model.requests) == 2
    assert code == 1


@pytest.mark.feature("LOOP-12", "RES-06")
def test_a_prompt_that_waits_when_the_turn_limit_hits_gets_a_turn_of_its_own(workspace):
    first = call("Bash", command="until [ -e go ]; do sleep 0.01; done")
    with ScriptedModel([first, say("second")], order="queue") as model:
        talk = workspace.talk(model, "--max-turns", "1", "--allowedTools", "Bash")
        talk.prompt("one", uuid="11111111-0000-4000-8000-000000000000")
        talk.wait(type="assistant")
        talk.prompt("two", uuid="22222222-0000-4000-8000-000000000000")
        talk.wait(type="command_lifecycle", command_uuid="22222222-0000-4000-8000-000000000000")
        (workspace.project / "go").touch()
        assert talk.result()["subtype"] == "error_max_turns"
        assert talk.result()["result"] == "second"
        assert talk.close() == 0


@pytest.mark.feature("LOOP-09", "LOOP-10", "COST-03")
def test_the_reply_that_passes_the_budget_is_paid_for_and_its_calls_do_not_run(workspace):
    dear = turn(call("Bash", command="touch ran"), usage={"input_tokens": 200_000, "output_tokens": 5_000})
    with ScriptedModel([dear, say("never")]) as model:
        talk = workspace.talk(model, "--max-budget-usd", "0.5", "--allowedTools", "Bash")
        talk.prompt()
        result = talk.result()
        code = talk.close()

    assert result["subtype"] == "error_max_budget_usd"
    assert result["errors"] == ["Reached maximum budget ($0.5)"]
    assert result["total_cost_usd"] == pytest.approx(0.675)
    assert result["usage"]["input_tokens"] == 0
    assert not (workspace.project / "ran").exists()
    assert code == 1


@pytest.mark.feature("LOOP-13")
def test_once_the_budget_is_spent_no_further_prompt_reaches_the_model(workspace):
    with ScriptedModel([turn(say("dear"), usage={"input_tokens": 200_000})]) as model:
        talk = workspace.talk(model, "--max-budget-usd", "0.5")
        talk.prompt("one")
        talk.result()
        talk.prompt("two")
        result = talk.result()

    assert result["subtype"] == "error_max_budget_usd"
    assert len(model.requests) == 1


@pytest.mark.feature("LOOP-15", "STREAM-06")
def test_partial_messages_come_before_the_block_they_make_up(workspace):
    with ScriptedModel([think("hm") + say("Hello you.")]) as model:
        talk = workspace.talk(model, "--include-partial-messages")
        talk.prompt()
        talk.result()

    order = [
        frame["event"]["type"] if frame["type"] == "stream_event" else frame.get("subtype") or frame["type"]
        for frame in talk.frames[1:-1]
    ]
    assert order == [
        "status",
        "message_start",
        "content_block_start",
        "thinking_tokens",
        "content_block_delta",
        "content_block_delta",
        "assistant",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "assistant",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_without_partial_messages_there_are_no_stream_events(workspace):
    with ScriptedModel([say("Hello.")]) as model:
        talk = workspace.talk(model)
        talk.prompt()
        talk.result()

    assert talk.of("stream_event") == []


@pytest.mark.feature("ENV-08")
def test_a_reply_that_hits_the_output_limit_is_gone_on_with(workspace):
    with ScriptedModel([turn(say("Half"), stop_reason="max_tokens"), say("whole")], order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt()
        result = talk.result()

    note = talk.of("user")[0]
    assert note["isSynthetic"] is True
    assert note["message"]["content"][0]["text"].startswith("Output token limit hit. Resume directly")
    assert (result["result"], result["num_turns"], result["stop_reason"]) == ("whole", 2, "end_turn")


def test_a_reply_that_never_ends_is_given_up_after_three_nudges(workspace):
    with ScriptedModel([turn(say("Half"), stop_reason="max_tokens")] * 4, order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt()
        result = talk.result()
        code = talk.close()

    assert len(model.requests) == 4
    assert (result["subtype"], result["is_error"], result["api_error"]) == (
        "success",
        True,
        "max_output_tokens",
    )
    assert talk.of("assistant")[-1]["error"] == "max_output_tokens"
    assert code == 1


def test_a_reply_without_content_is_asked_about_once(workspace):
    with ScriptedModel([turn(), turn()], order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt()
        result = talk.result()

    assert len(model.requests) == 2
    assert (result["result"], result["num_turns"], result["is_error"]) == ("", 2, False)


def test_a_refusal_is_asked_about_once_and_then_ends_the_turn(workspace):
    with ScriptedModel([turn(say("I can"), stop_reason="refusal")] * 2, order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt()
        result = talk.result()

    assert (result["is_error"], result["stop_reason"]) == (True, "refusal")
    assert len(talk.of("system", "model_refusal_no_fallback")) == 1


@pytest.mark.feature("ENV-01", "ENV-05")
def test_without_a_key_the_turn_says_so(workspace):
    talk = workspace.talk(None)
    talk.prompt()
    result = talk.result()

    assert result["result"] == "Not logged in · Please run /login"
    assert (result["subtype"], result["is_error"], result["terminal_reason"]) == (
        "success",
        True,
        "api_error",
    )
    assert talk.of("assistant")[0]["error"] == "authentication_failed"
    assert talk.close() == 1


@pytest.mark.feature("CLI-16", "ENV-03")
def test_a_retry_is_told_before_it_is_waited_for(workspace):
    with ScriptedModel([fail(529, times=1) + say("up again")]) as model:
        talk = workspace.talk(model, env={"CLAUDE_CODE_MAX_RETRIES": "2"})
        talk.prompt()
        result = talk.result()

    (retry,) = talk.of("system", "api_retry")
    assert (retry["attempt"], retry["max_retries"], retry["error_status"], retry["error"]) == (
        1,
        2,
        529,
        "overloaded",
    )
    assert result["result"] == "up again"


@pytest.mark.feature("ENV-05", "RES-01")
def test_an_api_error_is_a_message_and_a_failed_result_and_the_session_lives_on(workspace):
    with ScriptedModel(
        [fail(400, times=1, error="invalid_request_error", message="bad thing"), say("fine")]
    ) as model:
        talk = workspace.talk(model)
        talk.prompt("one")
        result = talk.result()
        talk.prompt("two")
        assert talk.result()["result"] == "fine"
        assert talk.close() == 0

    assert (result["subtype"], result["is_error"], result["api_error_status"]) == ("success", True, 400)
    assert "bad thing" in result["result"]
    message = talk.of("assistant")[0]
    assert message["message"]["model"] == "<synthetic>"
    assert message["is_api_error_message"] is True
    # The model is not told what only the user should read.
    assert "bad thing" not in str(model.requests[-1].messages)


def test_a_slow_host_loses_nothing(workspace):
    text = "x" * 400_000
    with ScriptedModel([turn(say(text), chunk=2_000)]) as model:
        talk = workspace.talk(model, "--include-partial-messages")
        talk.prompt()
        result = talk.result()

    assert result["result"] == text
    deltas = [
        f["event"]["delta"]["text"]
        for f in talk.of("stream_event")
        if f["event"]["type"] == "content_block_delta"
    ]
    assert "".join(deltas) == text


@pytest.mark.feature("CTX-01", "CTX-02")
def test_requests_repeat_their_beginning_byte_for_byte(workspace):
    with ScriptedModel(
        [call("Bash", command="echo 1"), call("Bash", command="echo 2"), say("done")]
    ) as model:
        talk = workspace.talk(model)
        talk.prompt()
        talk.result()

    first, second, third = (request.body for request in model.requests)
    assert first["system"] == second["system"] == third["system"]
    assert first["tools"] == second["tools"] == third["tools"]
    plain = [[strip(m) for m in body["messages"]] for body in (first, second, third)]
    assert plain[1][: len(plain[0])] == plain[0]
    assert plain[2][: len(plain[1])] == plain[1]


def strip(message):
    return [{k: v for k, v in block.items() if k != "cache_control"} for block in message["content"]]


def test_a_long_stream_can_be_watched_while_the_model_speaks(workspace):
    with ScriptedModel([turn(say("one two three"), chunk=4) + stall("later")]) as model:
        talk = workspace.talk(model, "--include-partial-messages")
        talk.prompt()
        talk.wait(type="stream_event", event={"type": "content_block_delta", "delta": {"text": "one "}})
        model.gate("later").release()
        assert talk.result()["result"] == "one two three"


def test_a_call_that_cannot_be_tried_is_answered_at_once(workspace):
    first = turn(call("Nope", a=1), call("Read", file_path=3), call("Bash", command="echo 1"))
    with ScriptedModel([first, say("done")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.initialize()
        talk.prompt()
        talk.result()

    kinds = [f["type"] for f in talk.frames if f["type"] in {"assistant", "user"}]
    assert kinds == ["assistant", "user"] * 3 + ["assistant"]
    assert [bool(result.get("is_error")) for result in talk.tool_results()] == [True, True, False]
    assert [block["content"] for block in model.requests[1].messages[-1]["content"]][2] == "1"
