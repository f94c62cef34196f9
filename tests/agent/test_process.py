"""How the process begins and ends, and what it leaves behind: nothing."""

import json
import os
import signal
import subprocess
import sys

import pytest

from claude_wrapper.testing import ScriptedModel, call, fail, say, stall, turn

STREAM = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
SLEEP = call("Bash", command="sleep 300 & echo $! > pid; sleep 300")


@pytest.fixture
def sleeping(workspace, eventually):
    """An agent whose tool has started a process, and that process's id."""
    models = []

    def start(*argv):
        model = ScriptedModel([SLEEP]).start()
        models.append(model)
        talk = workspace.talk(model, "--allowedTools", "Bash", *argv)
        talk.prompt()
        talk.wait(type="assistant")
        pid = workspace.project / "pid"
        eventually(lambda: pid.exists() and pid.read_text().strip())
        return talk, int(pid.read_text())

    yield start
    for model in models:
        model.close()


def test_the_end_of_stdin_lets_the_turn_end_and_then_the_process(workspace):
    with ScriptedModel([call("Bash", command="sleep 0.2; echo late"), say("done")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt()
        assert talk.close() == 0

    assert talk.of("result")[0]["result"] == "done"


def test_nothing_at_all_is_no_failure(workspace):
    assert workspace.talk(None).close() == 0


@pytest.mark.feature("CLI-08", "RES-05")
def test_the_exit_code_is_that_of_the_last_result(workspace):
    with ScriptedModel([fail(400, times=1), say("good")], order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt("one")
        talk.result()
        assert talk.close() == 1

    with ScriptedModel([fail(400, times=1), say("good")], order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt("one")
        talk.result()
        talk.prompt("two")
        talk.result()
        assert talk.close() == 0


@pytest.mark.feature("SESS-10")
def test_sigterm_kills_the_tools_and_exits_143(sleeping, alive, eventually):
    talk, pid = sleeping()
    talk.signal(signal.SIGTERM)

    assert talk.exit_code() == 143
    eventually(lambda: not alive(pid))
    assert talk.of("result") == []
    assert [result["content"] for result in talk.tool_results()] == ["Exit code 137"]


def test_sigint_ends_the_turn_with_its_result_and_exits_0(sleeping, alive, eventually):
    talk, pid = sleeping()
    talk.signal(signal.SIGINT)

    assert talk.exit_code() == 0
    eventually(lambda: not alive(pid))
    assert talk.of("result")[0]["terminal_reason"] == "aborted_tools"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 0)])
def test_signals_without_a_turn(workspace, number, code):
    talk = workspace.talk(None)
    talk.initialize()
    talk.signal(number)

    assert talk.exit_code() == code


def test_sigterm_while_the_model_speaks_says_nothing_more(workspace):
    with ScriptedModel([turn(say("one two"), chunk=4) + stall("x", after_block=0, after_chunks=1)]) as model:
        talk = workspace.talk(model, "--include-partial-messages")
        talk.prompt()
        talk.wait(type="stream_event", event={"type": "content_block_delta"})
        talk.signal(signal.SIGTERM)
        assert talk.exit_code() == 143
        model.gate("x").release()

    assert talk.frames[-1]["type"] == "stream_event"


def test_a_host_that_stops_reading_ends_the_process_and_its_tools(workspace, alive, eventually):
    pid = workspace.project / "pid"
    with ScriptedModel([SLEEP]) as model:
        process = subprocess.Popen(
            [sys.executable, "-m", "claude_wrapper.agent", *STREAM, "--allowedTools", "Bash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=workspace.project,
            env=workspace.environment(model),
        )
        process.stdin.write(b'{"type":"user","message":{"role":"user","content":"go"}}\n')
        process.stdin.flush()
        eventually(lambda: pid.exists() and pid.read_text().strip(), 15)
        process.stdout.close()
        process.stdin.write(
            b'{"type":"control_request","request_id":"1","request":{"subtype":"list_models"}}\n'
        )
        process.stdin.flush()
        process.wait(40)
        process.stdin.close()
        eventually(lambda: not alive(int(pid.read_text())))


def test_a_dead_parent_ends_the_process_and_its_tools(workspace, alive, eventually):
    with ScriptedModel([SLEEP]) as model:
        # The parent dies and leaves the agent's stdin open in another process, as a shell would.
        script = (
            "import subprocess,sys,os,time\n"
            "r,w=os.pipe()\n"
            "p=subprocess.Popen(sys.argv[1:],stdin=r,stdout=subprocess.DEVNULL,pass_fds=[w])\n"
            'os.write(w,b\'{"type":"user","message":{"role":"user","content":"go"}}\\n\')\n'
            "print(p.pid,flush=True)\n"
            "sys.stdin.read()\n"
        )
        argv = [sys.executable, "-m", "claude_wrapper.agent", *STREAM, "--allowedTools", "Bash"]
        parent = subprocess.Popen(
            [sys.executable, "-c", script, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=workspace.project,
            env=workspace.environment(model),
        )
        agent = int(parent.stdout.readline())
        pid = workspace.project / "pid"
        eventually(lambda: pid.exists() and pid.read_text().strip(), 15)
        parent.kill()
        parent.wait(40)
        parent.stdin.close()
        parent.stdout.close()
        eventually(lambda: not alive(agent), 10)
        eventually(lambda: not alive(int(pid.read_text())))


def test_a_line_that_is_no_json_ends_the_process(workspace):
    talk = workspace.talk(None)
    talk.line("{broken")

    assert talk.exit_code() == 1
    assert talk.frames == []
    assert talk.errors.count(b"\n") == 1


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "user", "message": {"role": "assistant", "content": "x"}},
        {"type": "user", "message": "x"},
        {"type": "user"},
    ],
)
def test_a_prompt_that_is_none_ends_the_process(workspace, frame):
    talk = workspace.talk(None)
    talk.send(frame)

    assert talk.exit_code() == 1


def test_lines_that_mean_nothing_here_are_passed_over(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        for line in ("", "  ", "[1]", "7", '{"type":"keep_alive"}', '{"type":"nosuch","x":1}'):
            talk.line(line)
        talk.line('{"type":"control_response","response":{"subtype":"success","request_id":"z"}}')
        talk.line('{"type":"control_cancel_request","request_id":"z"}')
        talk.prompt()
        assert talk.result()["result"] == "hi"
        assert talk.close() == 0


def test_a_last_line_without_its_newline_counts(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        talk.process.stdin.write(b'{"type":"user","message":{"role":"user","content":"x"}}')
        assert talk.close() == 0

    assert talk.of("result")[0]["result"] == "hi"


def test_end_session_ends_the_process(workspace):
    talk = workspace.talk(None)
    assert talk.ask("end_session", reason="done")["subtype"] == "success"
    assert talk.exit_code() == 0


def test_stdin_may_be_a_file(workspace):
    frames = workspace.project / "frames"
    frames.write_text('{"type":"user","message":{"role":"user","content":"x"}}\n')
    with ScriptedModel([say("hi")]) as model, frames.open() as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "claude_wrapper.agent", *STREAM],
            stdin=stdin,
            capture_output=True,
            cwd=workspace.project,
            env=workspace.environment(model),
            timeout=20,
            check=False,
        )

    assert done.returncode == 0
    assert b'"result":"hi"' in done.stdout


def test_stdout_may_be_a_file(workspace):
    out = workspace.project / "out"
    argv = [sys.executable, "-m", "claude_wrapper.agent", "-p", "x"]
    with ScriptedModel([say("hi")]) as model, out.open("w") as stdout:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=workspace.project,
            env=workspace.environment(model),
            timeout=20,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    assert out.read_text() == "hi\n"


def test_a_pipe_that_others_write_to_stays_blocking(workspace):
    """The agent's stdout is often the stderr of other programs, which cannot take EAGAIN."""
    read, write = os.pipe()
    with ScriptedModel([say("hi")]) as model:
        done = subprocess.run(
            [sys.executable, "-m", "claude_wrapper.agent", "-p", "x"],
            stdin=subprocess.DEVNULL,
            stdout=write,
            cwd=workspace.project,
            env=workspace.environment(model),
            timeout=20,
            check=False,
        )
        blocking = os.get_blocking(write)
    os.close(write)
    os.close(read)

    assert done.returncode == 0
    assert blocking


@pytest.mark.feature("ENV-13")
def test_the_key_is_seen_by_no_tool_and_written_nowhere(workspace):
    with ScriptedModel([call("Bash", command="env"), say("done")]) as model:
        talk = workspace.talk(
            model,
            "--session-mirror",
            env={"ANTHROPIC_API_KEY": "sk-very-secret", "ANTHROPIC_AUTH_TOKEN": "tok-very-secret"},
        )
        talk.prompt()
        talk.result()
        assert talk.close() == 0

    assert "sk-very-secret" not in str(talk.frames)
    assert "tok-very-secret" not in str(talk.frames)
    assert b"very-secret" not in talk.errors
    written = [p.read_bytes() for p in workspace.home.rglob("*") if p.is_file()]
    assert written
    assert not any(b"very-secret" in content for content in written)


CRASHING = """
import claude_wrapper.agent.model.brief as brief
def fail(*_): raise LookupError("nothing there")
brief.Brief.request = fail
from claude_wrapper.agent.__main__ import run_and_exit
run_and_exit()
"""


@pytest.mark.feature("RES-07", "RES-06")
def test_a_fault_of_the_agent_ends_it_with_a_result(workspace):
    with ScriptedModel([say("never")]) as model:
        done = subprocess.run(
            [sys.executable, "-c", CRASHING, *STREAM],
            input=json.dumps({"type": "user", "message": {"role": "user", "content": "hi"}}).encode() + b"\n",
            capture_output=True,
            cwd=workspace.project,
            env=workspace.environment(model),
            timeout=20,
            check=False,
        )

    result = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1
    assert (result["subtype"], result["is_error"], result["stop_reason"]) == (
        "error_during_execution",
        True,
        None,
    )
    assert result["errors"] == ["The agent failed: LookupError: nothing there"]
    assert b"LookupError" in done.stderr


@pytest.mark.feature("ENV-01")
@pytest.mark.parametrize("key", ["sk-secret-12345\n", "sk-secret-12345\r\nX-Other: 1", "sk-secret-12345é"])
def test_a_key_that_cannot_be_sent_is_not_shown_either(workspace, key):
    with ScriptedModel([say("hi")]) as model:
        _, out, err = workspace.run(model, "-p", "hi", env={"ANTHROPIC_API_KEY": key})

    assert "secret" not in out + err
    assert "Traceback" not in err


def test_an_unknown_model_is_named_on_stderr(workspace):
    with ScriptedModel([say("a"), say("b")]) as model:
        _, out, err = workspace.run(model, "-p", "hi", "--model", "nosuch-model")

    assert out == "a\n"
    assert err.splitlines() == [
        '[claude-code:unrecognized_model] {"model":"nosuch-model","query_source":"sdk"}'
    ]


LOOKING = """
import os, sys
leave = os._exit
def look(code):
    print("trio" if sys.modules.get("trio") else "no trio", file=sys.stderr, flush=True)
    leave(code)
os._exit = look
from claude_wrapper.agent.__main__ import run_and_exit
run_and_exit()
"""


def test_an_agent_that_has_asked_its_model_has_not_loaded_the_other_event_loop(workspace):
    with ScriptedModel([say("Here.")]) as model:
        done = subprocess.run(
            [sys.executable, "-c", LOOKING, "-p", "hi"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=workspace.project,
            env=workspace.environment(model),
            timeout=60,
            check=False,
        )

    assert (done.returncode, done.stdout) == (0, "Here.\n")
    assert done.stderr.splitlines()[-1] == "no trio"
