"""Commands in the background of a session: begun there or moved there, told of, read, stopped, and gone with the agent."""

import json
import os
import signal
import stat
import time
from pathlib import Path

import pytest

from claude_wrapper.testing import ScriptedModel, call, say, stall, turn

ALLOWED = ("--allowedTools", "Bash", "Read", "TaskStop")
WAITS = "echo begin; while [ ! -e go ]; do sleep 0.02; done; echo end"


def command(text, **fields):
    return call("Bash", command=text, description="Wait", **fields)


def beside(text=WAITS, **fields):
    return command(text, run_in_background=True, **fields)


def begin(workspace, model, *argv, **env):
    talk = workspace.talk(model, *ALLOWED, *argv, env={"TMPDIR": str(workspace.home), **env})
    talk.prompt()
    return talk


def let_it_end(workspace):
    (workspace.project / "go").touch()


def told(model, number=-1):
    """The texts that the model got with the newest message."""
    content = model.requests[number].messages[-1]["content"]
    return [block.get("text") or block.get("content") or "" for block in content]


def result_of(talk, number=0):
    (block,) = talk.of("user")[number]["message"]["content"]
    return block


def output_of(talk):
    return Path(talk.of("system", "task_notification")[-1]["output_file"])


@pytest.mark.feature("TOOL-05", "TOOL-15", "TOOL-16", "SUB-18", "LOOP-17")
def test_a_command_in_the_background_is_told_of_and_its_end_begins_a_turn(workspace):
    with ScriptedModel([beside(), say("started"), say("noted")], count_all=True) as model:
        talk = begin(workspace, model)
        assert talk.result()["result"] == "started"
        let_it_end(workspace)
        later = talk.result()
        assert talk.close() == 0

    (started,), (over,) = talk.of("system", "task_started"), talk.of("system", "task_notification")
    assert (started["task_type"], started["is_backgrounded"]) == ("local_bash", True)
    assert result_of(talk)["content"].startswith(
        f"Command running in background with ID: {started['task_id']}. Output is being written to: "
    )
    assert talk.of("user")[0]["tool_use_result"]["backgroundTaskId"] == started["task_id"]
    assert (over["status"], over["summary"]) == (
        "completed",
        'Background command "Wait" completed (exit code 0)',
    )
    sets = [
        [each["task_id"] for each in frame["tasks"]]
        for frame in talk.of("system", "background_tasks_changed")
    ]
    assert sets == [[started["task_id"]], []]
    assert (later["result"], later["origin"]["kind"]) == ("noted", "task-notification")
    assert f"<task-id>{started['task_id']}</task-id>" in told(model)[0]
    path = output_of(talk)
    assert path.read_text() == "begin\nend\n\n[exited with code 0]\n"
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)] == [0o600, 0o700]


@pytest.mark.feature("SUB-18")
@pytest.mark.parametrize(
    ("text", "status", "how"),
    [
        ("exit 3", "failed", "failed with exit code 3"),
        ("grep x /dev/null", "completed", "completed (exit code 1: No matches found)"),
        ("kill -9 $$", "failed", "failed with exit code 1"),
    ],
)
def test_how_a_command_ended_is_told(workspace, text, status, how):
    script = [beside(text), command("while [ ! -s $TMPDIR/over ]; do sleep 0.02; done"), say("done")]
    with ScriptedModel(script, count_all=True) as model:
        talk = begin(workspace, model)
        over = talk.wait(type="system", subtype="task_notification")
        (workspace.home / "over").write_text("x")
        assert talk.result()["num_turns"] == 3
        assert talk.close() == 0

    assert (over["status"], over["summary"]) == (status, f'Background command "Wait" {how}')
    # It ended while the turn was at work: the model hears of it with the next results.
    assert how.split(":")[0] in str(model.requests[-1].messages)
    assert len(talk.of("result")) == 1


def test_the_results_origin_is_that_of_what_began_the_turn(workspace):
    script = [
        turn(beside("true"), command("while [ ! -e go ]; do sleep 0.02; done")),
        say("done"),
    ]
    with ScriptedModel(script, count_all=True) as model:
        talk = begin(workspace, model)
        talk.wait(type="system", subtype="task_notification")
        let_it_end(workspace)
        assert "origin" not in talk.result()
        assert talk.close() == 0


def test_of_two_ends_that_wait_the_model_answers_the_second(workspace):
    script = [turn(beside(), beside()), stall("g") + say("busy"), say("noted")]
    with ScriptedModel(script, count_all=True) as model:
        talk = begin(workspace, model)
        model.gate("g").wait(40)
        let_it_end(workspace)
        for _ in range(2):
            talk.wait(type="system", subtype="task_notification")
        model.gate("g").release()
        results = [talk.result() for _ in range(3)]
        assert talk.close() == 0

    assert [(each["result"], each["num_turns"]) for each in results] == [("busy", 3), ("", 0), ("noted", 1)]
    assert all(each["origin"]["kind"] == "task-notification" for each in results[1:])
    assert len(model.requests) == 3


@pytest.mark.feature("TOOL-15")
def test_the_model_may_stop_a_command_and_is_not_told_again(workspace):
    script = workspace.home / "script.json"
    calls = [("Bash", {"command": WAITS, "run_in_background": True}), ("TaskStop", {"task_id": "@ID"})]
    turns = [{"content": [{"type": "tool_use", "name": name, "input": fields}]} for name, fields in calls]
    turns[1]["gate"] = "g"
    turns.append({"content": [{"type": "text", "text": "stopped"}]})
    script.write_text(json.dumps({"count": "all", "main": turns}))
    with ScriptedModel(script) as model:
        talk = begin(workspace, model)
        task_id = talk.wait(type="system", subtype="task_started")["task_id"]
        script.write_text(script.read_text().replace("@ID", task_id))
        talk.wait(type="user")
        model.gate("g").release()
        assert talk.result()["result"] == "stopped"
        assert talk.close() == 0

    assert json.loads(result_of(talk, 1)["content"]) == {
        "message": f"Successfully stopped task: {task_id} ({WAITS})",
        "task_id": task_id,
        "task_type": "local_bash",
        "command": WAITS,
    }
    assert [frame["patch"]["status"] for frame in talk.of("system", "task_updated")] == ["killed"]
    assert len(told(model)) == 1
    assert output_of(talk).read_text() == "begin\n\n[killed]\n"


@pytest.mark.parametrize(
    ("fields", "text"),
    [({"task_id": "nosuch"}, "No task found with ID: nosuch"), ({}, "Missing required parameter: task_id")],
)
def test_stopping_what_is_not_there_is_a_mistake(workspace, fields, text):
    script = [turn(call("TaskStop", **fields), call("KillShell", shell_id="nosuch")), say("done")]
    with ScriptedModel(script, count_all=True) as model:
        talk = begin(workspace, model)
        talk.result()
        assert talk.close() == 0

    assert result_of(talk)["content"] == f"<tool_use_error>{text}</tool_use_error>"
    assert result_of(talk, 1)["content"] == "<tool_use_error>No task found with ID: nosuch</tool_use_error>"


@pytest.mark.feature("SUB-18")
def test_a_command_that_the_host_stops_begins_no_turn_but_the_model_hears_of_it(workspace):
    with ScriptedModel([beside(), say("started"), say("more")], count_all=True) as model:
        talk = begin(workspace, model)
        talk.result()
        task_id = talk.of("system", "task_started")[0]["task_id"]
        assert talk.ask(subtype="stop_task", task_id=task_id)["response"] == {}
        assert talk.of("system", "task_notification")[0]["status"] == "stopped"
        talk.prompt("And now?")
        assert talk.result()["result"] == "more"
        assert talk.close() == 0

    assert "was stopped by the user" in str(model.requests[-1].messages)
    assert len(model.requests) == 3


def test_a_command_that_a_call_waits_for_can_be_moved_read_and_goes_on(workspace):
    with ScriptedModel([command(WAITS), say("moved"), say("noted")], count_all=True) as model:
        talk = begin(workspace, model)
        started = talk.wait(type="system", subtype="task_started")
        assert started["is_backgrounded"] is False
        shown = talk.ask(subtype="get_task_output", task_id=started["task_id"])["response"]
        assert shown == {"output": "begin\n", "total_bytes": 6, "truncated": False}
        moved = talk.ask(subtype="background_tasks", tool_use_id=started["tool_use_id"])
        assert moved["response"] == {"backgrounded": True}
        assert talk.result()["result"] == "moved"
        let_it_end(workspace)
        assert talk.result()["result"] == "noted"
        assert talk.close() == 0

    assert result_of(talk)["content"].startswith("Command was manually backgrounded by user with ID: ")
    assert talk.of("user")[0]["tool_use_result"]["backgroundedByUser"] is True
    assert output_of(talk).read_text() == "begin\nend\n\n[exited with code 0]\n"


@pytest.mark.feature("TOOL-08")
def test_a_command_that_takes_too_long_goes_on_in_the_background(workspace):
    with ScriptedModel([command(WAITS, timeout=400), say("moved"), say("noted")], count_all=True) as model:
        talk = begin(workspace, model)
        talk.result()
        let_it_end(workspace)
        talk.result()
        assert talk.close() == 0

    task_id = talk.of("system", "task_started")[0]["task_id"]
    assert result_of(talk)["content"].startswith(
        f"begin\nCommand did not complete within its 0s timeout and was moved to the background (ID: {task_id}). "
    )
    assert talk.of("user")[0]["tool_use_result"]["timedOutAfterMs"] == 400
    assert output_of(talk).read_text().startswith("begin\nend\n")


@pytest.mark.feature("TOOL-08")
@pytest.mark.parametrize(
    ("text", "env"),
    [("sleep 50; echo x", {}), (WAITS, {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"})],
)
def test_what_only_waits_or_may_not_go_on_is_ended(workspace, text, env):
    with ScriptedModel([command(text, timeout=300), say("done")], count_all=True) as model:
        talk = begin(workspace, model, **env)
        talk.result()
        assert talk.close() == 0

    assert result_of(talk)["content"].startswith("Exit code 143\nCommand timed out after 0.3s")
    assert not talk.of("system", "task_started")


def test_where_nothing_may_run_in_the_background_the_parameter_is_not_there(workspace):
    with ScriptedModel([beside("true"), say("done")], count_all=True) as model:
        talk = begin(workspace, model, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS="1")
        talk.result()
        assert talk.close() == 0
        (bash,) = [tool for tool in model.requests[0].body["tools"] if tool["name"] == "Bash"]

    assert "run_in_background" not in bash["input_schema"]["properties"]
    assert "An unexpected parameter `run_in_background` was provided" in result_of(talk)["content"]


def test_long_output_that_was_saved_already_stays_where_it_is(workspace):
    text = "head -c 200000 /dev/zero | tr '\\0' x; " + WAITS
    with ScriptedModel([command(text), say("moved"), say("noted")], count_all=True) as model:
        talk = begin(workspace, model)
        talk.wait(type="system", subtype="task_started")
        talk.ask(subtype="background_tasks")
        talk.result()
        let_it_end(workspace)
        talk.result()
        shown = talk.ask(subtype="get_task_output", task_id=talk.of("system", "task_started")[0]["task_id"])[
            "response"
        ]
        assert talk.close() == 0

    path = output_of(talk)
    assert path.is_symlink()
    assert (
        path.stat().st_size == shown["total_bytes"] == 200_000 + len("begin\nend\n\n[exited with code 0]\n")
    )
    assert shown["truncated"] is True
    assert shown["output"].endswith("xbegin\nend\n\n[exited with code 0]\n")


def test_a_folder_of_somebody_else_takes_no_output(workspace):
    target = workspace.home / "elsewhere"
    target.mkdir()
    (workspace.home / f"claude-{os.getuid()}").symlink_to(target)
    with ScriptedModel([beside("echo secret"), say("s"), say("n")], count_all=True) as model:
        talk = begin(workspace, model)
        talk.wait(type="system", subtype="task_notification")
        assert talk.close() == 0

    assert output_of(talk).read_text().startswith("secret\n")
    assert "tool-results" in str(output_of(talk))
    assert list(target.iterdir()) == []


@pytest.mark.feature("RULE-18")
@pytest.mark.parametrize("rule", ["Bash(touch *)", "Bash(run_in_background:true)"])
def test_a_command_in_the_background_needs_the_same_permission(workspace, rule):
    with ScriptedModel([beside("touch made"), say("done")], count_all=True) as model:
        talk = begin(workspace, model, "--disallowedTools", rule)
        talk.result()
        assert talk.close() == 0

    assert "has been denied" in result_of(talk)["content"]
    assert not (workspace.project / "made").exists()


def test_an_interrupt_leaves_what_runs_in_the_background_alone(workspace):
    script = [beside(), stall("never") + say("busy"), say("noted")]
    with ScriptedModel(script, order="queue") as model:
        talk = begin(workspace, model)
        model.gate("never").wait(40)
        talk.ask(subtype="interrupt")
        assert talk.result()["subtype"] == "error_during_execution"
        let_it_end(workspace)
        assert talk.result()["result"] == "noted"
        assert talk.close() == 0

    assert output_of(talk).read_text() == "begin\nend\n\n[exited with code 0]\n"


@pytest.mark.feature("HEVT-11")
def test_stop_hooks_are_told_what_runs_in_the_background(workspace):
    hook = {"type": "command", "command": "cat >> stop.jsonl; echo >> stop.jsonl"}
    settings = json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}})
    with ScriptedModel([beside(), say("s"), say("n")], count_all=True) as model:
        talk = begin(workspace, model, "--settings", settings)
        talk.result()
        let_it_end(workspace)
        talk.result()
        assert talk.close() == 0

    task_id = talk.of("system", "task_started")[0]["task_id"]
    lines = (workspace.project / "stop.jsonl").read_text().split("\n")
    heard = [json.loads(line)["background_tasks"] for line in lines if line]
    assert heard == [
        [
            {
                "id": task_id,
                "type": "shell",
                "status": "running",
                "description": "Wait",
                "command": WAITS,
            }
        ],
        [],
    ]


def test_a_run_whose_input_is_over_waits_for_its_commands(workspace):
    with ScriptedModel([beside("sleep 0.5; echo x > late"), say("s"), say("n")], count_all=True) as model:
        code, out, _ = workspace.run(model, "-p", "go", *ALLOWED, env={"TMPDIR": str(workspace.home)})

    assert (code, out.split()) == (0, ["s", "n"])
    assert (workspace.project / "late").exists()


def test_but_not_for_ever(workspace):
    with ScriptedModel([beside("echo $$ > pid; sleep 300"), say("s"), say("n")], count_all=True) as model:
        env = {"TMPDIR": str(workspace.home), "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS": "300"}
        code, out, _ = workspace.run(model, "-p", "go", *ALLOWED, env=env)

    assert code == 0
    assert out.split()[0] == "s"
    assert not Path("/proc", (workspace.project / "pid").read_text().strip()).exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
def test_a_signal_ends_what_runs_in_the_background_and_tells_it(workspace, number, code):
    with ScriptedModel([beside("echo $$ > pid; sleep 300"), say("s")], count_all=True) as model:
        talk = begin(workspace, model)
        talk.result()
        while not (workspace.project / "pid").exists():
            time.sleep(0.01)
        pid = (workspace.project / "pid").read_text().strip()
        talk.signal(number)
        assert talk.exit_code() == code

    assert not Path("/proc", pid).exists()
    (over,) = talk.of("system", "task_notification")
    assert (over["status"], over["output_file"]) == ("stopped", "")
    assert [each["patch"]["status"] for each in talk.of("system", "task_updated")] == ["killed"]
    assert talk.of("system", "background_tasks_changed")[-1]["tasks"] == []


def test_the_end_of_the_session_ends_what_runs_in_the_background(workspace):
    with ScriptedModel([beside("sleep 300"), say("s")], count_all=True) as model:
        talk = begin(workspace, model)
        talk.result()
        talk.ask(subtype="end_session")
        assert talk.exit_code() == 0

    assert [each["patch"]["status"] for each in talk.of("system", "task_updated")] == ["killed"]
    assert talk.of("system", "task_notification")[0]["status"] == "stopped"
    assert len(model.requests) == 2


def test_a_command_of_a_subagent_ends_with_the_subagent(workspace):
    ask = call("Agent", description="Count", prompt="SUBTASK", run_in_background=False)
    script = [ask, say("done")]
    with ScriptedModel(script, sub={"SUBTASK": [beside(), say("Found 3.")]}, count_all=True) as model:
        talk = begin(workspace, model, "--allowedTools", "Agent")
        talk.result()
        assert talk.close() == 0

    of_agent, of_command = talk.of("system", "task_started")
    assert (of_command["parent_task_id"], of_command["owned_by_subagent"]) == (of_agent["task_id"], True)
    ends = [(each["task_id"], each["patch"]["status"]) for each in talk.of("system", "task_updated")]
    assert ends == [(of_command["task_id"], "killed"), (of_agent["task_id"], "completed")]
    assert talk.of("result")[-1]["result"] == "done"


def test_a_subagent_that_a_call_waits_for_can_be_moved(workspace):
    ask = call("Agent", description="Count", prompt="SUBTASK", run_in_background=False)
    inner = [stall("g") + say("Found 3.")]
    with ScriptedModel([ask, say("moved"), say("noted")], sub={"SUBTASK": inner}, count_all=True) as model:
        talk = begin(workspace, model, "--allowedTools", "Agent")
        model.gate("g").wait(40)
        talk.ask(subtype="background_tasks")
        assert talk.result()["result"] == "moved"
        model.gate("g").release()
        assert talk.result()["result"] == "noted"
        assert talk.close() == 0

    assert talk.of("system", "task_updated")[0]["patch"] == {"is_backgrounded": True}
    assert talk.of("user")[1]["tool_use_result"]["status"] == "async_launched"
    assert talk.of("system", "task_notification")[0]["summary"] == "Found 3."


def test_the_model_reads_the_output_without_being_asked_for_leave(workspace):
    script = workspace.home / "script.json"
    calls = [("Bash", {"command": "echo hello", "run_in_background": True}), ("Read", {"file_path": "@FILE"})]
    turns = [{"content": [{"type": "tool_use", "name": name, "input": fields}]} for name, fields in calls]
    waits = {"command": "while [ ! -e go ]; do sleep 0.02; done"}
    turns.insert(1, {"content": [{"type": "tool_use", "name": "Bash", "input": waits}]})
    turns.append({"content": [{"type": "text", "text": "read"}]})
    script.write_text(json.dumps({"count": "all", "main": turns}))
    with ScriptedModel(script) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash", env={"TMPDIR": str(workspace.home)})
        talk.prompt()
        over = talk.wait(type="system", subtype="task_notification")
        script.write_text(script.read_text().replace("@FILE", over["output_file"]))
        let_it_end(workspace)
        talk.result()
        assert talk.close() == 0

    assert result_of(talk, 2)["content"].startswith("1\thello\n")


def test_of_a_command_that_died_with_the_agent_the_resumed_session_is_told(workspace):
    with ScriptedModel(
        [beside("sleep 300"), say("started"), say("gone"), say("gone")], count_all=True
    ) as model:
        talk = begin(workspace, model)
        talk.result()
        task_id = talk.of("system", "task_started")[0]["task_id"]
        talk.signal(signal.SIGKILL)
        talk.exit_code()
        # The second time the transcript says it.
        for expected in ([task_id], []):
            resumed = begin(workspace, model, "--continue")
            resumed.result()
            assert resumed.close() == 0
            assert [each["task_id"] for each in resumed.of("system", "task_notification")] == expected

    assert f"<task-id>{task_id}</task-id>" in str(model.requests[2].messages)
