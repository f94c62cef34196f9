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
        # The second time the transcript says it.
        for expected in ([task_id], []):
            resumed = begin(workspace, model, "--continue")
            assert resumed.result()["result"] == "gone"
            assert resumed.close() == 0
            assert [each["task_id"] for each in resumed.of("system", "task_notification")] == expected

    assert f"<task-id>{task_id}</task-id>" in str(model.requests[2].messages)
