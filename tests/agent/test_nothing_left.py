"""Whichever way the agent ends, no process that it has started is left."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

STREAM = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
PROMPT = b'{"type":"user","message":{"role":"user","content":"go"}}\n'
BACKGROUND = (
    "sleep MARK & nohup sleep MARK & setsid sleep MARK & (setsid sleep MARK &); "
    "(trap '' TERM HUP INT; while :; do sleep MARK; done) & set -m; sleep MARK & echo > up; "
)
WAITING = f"{{ {BACKGROUND} }} >/dev/null 2>&1; sleep MARK"
LEAVING = f"{{ {BACKGROUND} }} >/dev/null 2>&1"
GATED = f"{LEAVING}; cat gate"
BACKGROUND_PROCESSES = 6

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


class Marked:
    """The processes of one test, known by a number on their command lines that nobody else has."""

    def __init__(self):
        self.mark = f"300.{os.getpid()}{time.monotonic_ns()}"

    def __call__(self, command):
        return call("Bash", command=command.replace("MARK", self.mark))

    def left(self):
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                state = (folder / "stat").read_text().rpartition(") ")[2][0]
            except OSError:
                continue
            if self.mark in line and state not in "ZX":
                found.append((int(folder.name), line))
        return found

    def sleeping(self):
        return [line for _, line in self.left() if line.split()[0] == "sleep"]


@pytest.fixture
def marked():
    made = Marked()
    yield made
    for pid, _ in made.left():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def agent(workspace, marked, eventually):
    """Start an agent whose model wants a command run; it has started its processes by then."""
    models = []

    def start(command, processes):
        model = ScriptedModel([marked(command), say("done")]).start()
        models.append(model)
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt()
        eventually((workspace.project / "up").exists, 15)
        eventually(lambda: len(marked.sleeping()) == processes)
        return talk

    yield start
    for model in models:
        model.close()


@pytest.fixture
def running(agent):
    """An agent that runs a command which waits."""
    return agent(WAITING, BACKGROUND_PROCESSES + 1)


@pytest.fixture
def idle(agent):
    """An agent that waits for a prompt; a finished command has left processes."""
    talk = agent(LEAVING, BACKGROUND_PROCESSES)
    talk.result()
    return talk


SIGNALS = [(signal.SIGTERM, 143), (signal.SIGINT, 0), (signal.SIGHUP, 129)]


@pytest.mark.feature("SESS-10")
@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_after_a_signal_during_a_command(running, marked, number, code):
    running.signal(number)

    assert running.exit_code() == code
    assert marked.left() == []
    assert len(running.of("result")) == (number == signal.SIGINT)


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_after_a_signal_between_turns(idle, marked, number, code):
    idle.signal(number)

    assert idle.exit_code() == code
    assert marked.left() == []


def test_after_being_killed_during_a_command(running, marked, eventually):
    running.signal(signal.SIGKILL)

    assert running.process.wait(40) == -signal.SIGKILL
    eventually(lambda: marked.left() == [], 2)


def test_after_being_killed_between_turns(idle, marked, eventually):
    idle.signal(signal.SIGKILL)

    assert idle.process.wait(40) == -signal.SIGKILL
    eventually(lambda: marked.left() == [], 2)


def test_after_the_end_of_stdin_between_turns(idle, marked):
    assert idle.close() == 0
    assert marked.left() == []


def test_the_end_of_stdin_during_a_command_lets_it_finish(agent, workspace, marked):
    os.mkfifo(workspace.project / "gate")
    talk = agent(GATED, BACKGROUND_PROCESSES)
    talk.process.stdin.close()
    assert marked.left()
    (workspace.project / "gate").write_text("the end\n")

    assert talk.exit_code() == 0
    assert talk.tool_results()[0]["content"] == "the end"
    assert talk.of("result")[0]["result"] == "done"
    assert marked.left() == []


def test_after_the_hosts_request_to_end_during_a_command(running, marked):
    assert running.ask("end_session", reason="enough")["subtype"] == "success"

    assert running.exit_code() == 1  # the last result is that of the interrupted turn
    assert marked.left() == []


def test_after_the_hosts_request_to_end_between_turns(idle, marked):
    assert idle.ask("end_session", reason="enough")["subtype"] == "success"

    assert idle.exit_code() == 0
    assert marked.left() == []


@pytest.mark.parametrize(
    ("command", "processes"), [(WAITING, BACKGROUND_PROCESSES + 1), (GATED, BACKGROUND_PROCESSES)]
)
def test_after_nobody_reads_any_more(workspace, marked, eventually, command, processes):
    os.mkfifo(workspace.project / "gate")
    with ScriptedModel([marked(command), say("done")]) as model:
        process = subprocess.Popen(
            [sys.executable, "-m", "claude_wrapper.agent", *STREAM, "--allowedTools", "Bash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=workspace.project,
            env=workspace.environment(model),
        )
        process.stdin.write(PROMPT)
        process.stdin.flush()
        eventually((workspace.project / "up").exists, 15)
        eventually(lambda: len(marked.sleeping()) == processes)
        process.stdout.close()
        if command == GATED:
            (workspace.project / "gate").write_text("the end\n")
        else:
            process.stdin.write(
                b'{"type":"control_request","request_id":"1","request":{"subtype":"list_models"}}\n'
            )
            process.stdin.flush()

        assert process.wait(40) == 1
        process.stdin.close()
    assert marked.left() == []


def test_an_agent_that_is_killed_while_it_ends_leaves_nothing_either(idle, marked, eventually):
    idle.signal(signal.SIGTERM)
    idle.signal(signal.SIGKILL)

    assert idle.process.wait(40) in {-signal.SIGKILL, 143}
    eventually(lambda: marked.left() == [], 2)


def test_a_print_run_leaves_nothing(workspace, marked):
    with ScriptedModel([marked(LEAVING), say("done")]) as model:
        code, out, _ = workspace.run(model, "-p", "go", "--allowedTools", "Bash")

    assert (code, out) == (0, "done\n")
    assert marked.left() == []
