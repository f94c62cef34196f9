"""Subagents at work in a session: awaited, beside it, stopped, and at their limits."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, say, turn


def ask(prompt="SUBTASK", description="Count", **fields):
    return call(
        "Agent", **{"description": description, "prompt": prompt, "run_in_background": False, **fields}
    )


def begin(workspace, model, *argv, **env):
    talk = workspace.talk(model, *ALLOWED, *argv, env={"TMPDIR": str(workspace.home), **env})
    talk.prompt()
    return talk


def seen(talk, kind, subtype=None):
    """The first frame of a kind, which may have come already."""
    pattern = {"type": kind} if subtype is None else {"type": kind, "subtype": subtype}
    return next(iter(talk.of(kind, subtype)), None) or talk.wait(**pattern)


def bash(command):
    return call("Bash", command=command)


ALLOWED = ("--allowedTools", "Bash,Agent")


@pytest.mark.feature("SUB-01", "CTX-12", "SUB-04", "SUB-09", "SUB-18", "RES-04", "COST-03")
def test_a_subagent_has_a_conversation_of_its_own_and_only_its_report_comes_back(workspace):
    script = ([ask(), say("done")], {"SUBTASK": [bash("echo sub"), say("Found 3.")]})
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        talk = begin(workspace, model)
        result = talk.result()
        assert talk.close() == 0
        first, inner = model.requests[0], model.requests[1]

    assert inner.messages[0]["content"][0]["text"] == "SUBTASK"
    assert first.body["system"] != inner.body["system"]
    started, over = talk.of("system", "task_started")[0], talk.of("system", "task_notification")[0]
    assert (started["task_type"], started["is_backgrounded"]) == ("local_agent", False)
    assert (over["status"], over["summary"]) == ("completed", "Found 3.")
    of_subagent = [frame for frame in talk.frames if frame.get("agent_id") == started["task_id"]]
    assert {frame["parent_tool_use_id"] for frame in of_subagent} == {started["tool_use_id"]}
    handed_back = talk.of("user")[-1]
    assert handed_back["tool_use_result"]["content"] == [{"type": "text", "text": "Found 3."}]
    assert "  Found 3." in handed_back["message"]["content"][0]["content"][0]["text"]
    used = result["modelUsage"]["claude-sonnet-4-5"]
    assert used["inputTokens"] == 2 * result["usage"]["input_tokens"]


@pytest.mark.feature("SUB-15")
def test_its_transcript_lies_beside_the_sessions_own(workspace):
    script = ([ask(), say("done")], {"SUBTASK": [bash("echo sub"), say("Found 3.")]})
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        talk = begin(workspace, model)
        talk.result()
        assert talk.close() == 0

    started = talk.of("system", "task_started")[0]
    (path,) = workspace.home.rglob(f"subagents/agent-{started['task_id']}.jsonl")
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    assert [entry["type"] for entry in entries] == ["user", "assistant", "user", "assistant"]
    assert all(entry["isSidechain"] and entry["agentId"] == started["task_id"] for entry in entries)
    assert [entry["parentUuid"] for entry in entries[1:]] == [entry["uuid"] for entry in entries[:-1]]
    about = json.loads(path.with_suffix(".meta.json").read_text())
    assert (about["agentType"], about["toolUseId"]) == ("general-purpose", started["tool_use_id"])
    assert path.parent.parent.name == started["session_id"]


@pytest.mark.feature("SUB-06")
def test_the_report_of_one_in_the_background_begins_a_turn(workspace):
    script = ([ask(run_in_background=True), say("waiting"), say("told")], {"SUBTASK": [say("Found 3.")]})
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        talk = begin(workspace, model)
        second = talk.wait(type="result", result="told")
        assert talk.close() == 0

    assert second["origin"]["kind"] == "task-notification"
    launched = talk.of("user")[0]["tool_use_result"]
    assert launched["status"] == "async_launched"


@pytest.mark.feature("SUB-06")
def test_a_run_without_further_input_waits_for_those_in_the_background(workspace):
    script = (
        [ask(run_in_background=True), say("waiting"), say("told")],
        {"SUBTASK": [bash("sleep 0.3"), say("Found 3.")]},
    )
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        code, out, _ = workspace.run(
            model,
            *("-p", "go", "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5"),
            *ALLOWED,
            env={"TMPDIR": str(workspace.home)},
        )

    results = [frame for frame in map(json.loads, out.splitlines()) if frame["type"] == "result"]
    assert [each["result"] for each in results] == ["waiting", "told"]
    assert code == 0


@pytest.mark.feature("SUB-18")
def test_a_task_that_the_host_stops_is_told_before_the_answer(workspace):
    script = ([ask(run_in_background=True), say("waiting"), say("told")], {"SUBTASK": [bash("sleep 30")]})
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        talk = begin(workspace, model)
        task = seen(talk, "system", "task_progress")["task_id"]
        seen(talk, "result")
        talk.ask("stop_task", task_id=task)
        answered = len(talk.frames)
        talk.wait(type="result", result="told")
        assert talk.close() == 0

    told = [frame.get("patch", {}).get("status") for frame in talk.frames[:answered]]
    assert "killed" in told
    assert talk.of("system", "task_notification")[0]["status"] == "stopped"


def test_an_interrupt_stops_the_subagent_that_the_turn_waits_for(workspace):
    script = ([ask()], {"SUBTASK": [bash("sleep 30")]})
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        talk = begin(workspace, model)
        seen(talk, "system", "task_progress")
        talk.ask("interrupt")
        result = talk.result()
        assert talk.close() == 1

    assert result["subtype"] == "error_during_execution"
    assert talk.of("system", "task_updated")[0]["patch"]["status"] == "killed"


def test_the_end_of_the_process_ends_those_in_the_background(workspace):
    script = ([ask(run_in_background=True), say("waiting")], {"SUBTASK": [bash("sleep 30")]})
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        talk = begin(workspace, model)
        seen(talk, "system", "task_progress")
        seen(talk, "result")
        talk.signal(15)
        assert talk.exit_code() == 143


@pytest.mark.feature("LOOP-11")
def test_a_subagent_that_uses_the_budget_up_ends_the_turn(workspace):
    costly = turn(
        bash("echo a"),
        usage={"input_tokens": 1_000_000, "output_tokens": 10},
    )
    script = ([ask()], {"SUBTASK": [costly]})
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        talk = begin(workspace, model, "--max-budget-usd", "1")
        result = talk.result()
        talk.close()

    assert result["subtype"] == "error_max_budget_usd"
    assert len(model.requests) == 2


@pytest.mark.feature("SUB-08")
def test_at_the_limit_of_depth_the_tool_is_not_on_offer(workspace):
    script = ([ask(), say("done")], {"SUBTASK": [say("Found 3.")]})
    env = {"CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH": "1"}
    with ScriptedModel(script[0], sub=script[1], count_all=True) as model:
        talk = begin(workspace, model, **env)
        talk.result()
        assert talk.close() == 0
        offered = [{tool["name"] for tool in request.body["tools"]} for request in model.requests]

    assert "Agent" in offered[0]
    assert "Agent" not in offered[1]
