"""What becomes of commands when the program that runs them is killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

RUNNER = """
import os, subprocess, sys
from pathlib import Path
import anyio
from claude_wrapper.agent.processes import watch
from claude_wrapper.agent.tools.bash import Bash
from claude_wrapper.agent.tools.contract import ToolContext
from claude_wrapper.agent.tools.registry import background_processes_ended, end_background_processes

here = Path.cwd()
context = ToolContext(here, here, lambda: [here], "s", {"PATH": os.environ["PATH"]}, here / "results")

async def main():
    for command in sys.argv[1:]:
        if command == "LOSE THE WATCHMAN":
            lost = watch.watchman_pid()
            os.kill(lost, 9)
            # Until it is really dead it takes in what it is told.
            os.waitid(os.P_PID, lost, os.WEXITED | os.WNOWAIT)
        elif command.startswith("UNTOLD "):
            environment = watch.marked(os.environ)
            subprocess.Popen(["bash", "-c", command[7:]], env=environment, start_new_session=True)
        else:
            await Bash().run({"command": command}, context)
    print("done", flush=True)
    await anyio.to_thread.run_sync(sys.stdin.read)
    end_background_processes()
    await background_processes_ended()

anyio.run(main)
"""


class Runner:
    """A program that runs commands one after another, and then waits for the end of its input."""

    def __init__(self, folder):
        self.folder = folder
        # Nothing else on the machine has this on its command line.
        self.mark = f"300.{os.getpid()}{time.monotonic_ns()}"
        self.process = None

    def start(self, *commands):
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUNNER, *(command.replace("MARK", self.mark) for command in commands)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        )

    def done(self):
        assert self.process.stdout.readline() == "done\n"

    def left(self):
        """The sleeps and shells of this test that live."""
        return list(self.living().values())

    def expect_nothing_left(self, seconds=40.0):
        end = time.monotonic() + seconds
        while self.left() and time.monotonic() < end:
            time.sleep(0.01)
        assert self.living() == {}

    def living(self):
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                line = (folder / "cmdline").read_bytes()
                state = (folder / "stat").read_text().rpartition(") ")[2][0]
            except OSError:
                continue
            if self.mark.encode() in line and state not in "ZX" and int(folder.name) != self.process.pid:
                found[int(folder.name)] = line.replace(b"\0", b" ").decode()
        return found

    def kill(self):
        self.process.kill()
        self.process.wait(40)

    def close(self):
        if self.process is not None:
            self.kill()
            self.process.stdin.close()
            self.process.stdout.close()
        for pid in self.living():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def runner(tmp_path):
    made = Runner(tmp_path)
    yield made
    made.close()


def until(condition, seconds=40.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


KINDS = {
    "the command itself": "touch up; sleep MARK",
    "in the background": "sleep MARK & touch up; wait",
    "deaf to hang-ups": "nohup sleep MARK >/dev/null 2>&1 & touch up; wait",
    "deaf to every kind request": "(trap '' TERM INT HUP; touch up; while :; do sleep MARK; done) & wait",
    "in a group of its own": "set -m; sleep MARK & touch up; wait",
    "in a session of its own": "setsid sleep MARK & touch up; wait",
    "an orphan in a session of its own": "(setsid sleep MARK >/dev/null 2>&1 &); touch up; sleep MARK",
    "with another environment": "env -i /bin/sleep MARK & touch up; wait",
}


@pytest.mark.parametrize("command", KINDS.values(), ids=KINDS)
def test_a_running_command_dies_with_a_killed_program(runner, tmp_path, command):
    runner.start(command)
    until((tmp_path / "up").exists)
    until(lambda: any("sleep 300" in line and "bash" not in line for line in runner.left()))
    runner.kill()

    runner.expect_nothing_left()


def test_so_does_one_of_which_the_program_could_not_tell_any_more(runner, tmp_path):
    runner.start("UNTOLD env -i /bin/sleep MARK & touch up; wait")
    runner.done()
    until((tmp_path / "up").exists)
    until(lambda: any("sleep 300" in line and "bash" not in line for line in runner.left()))
    runner.kill()

    runner.expect_nothing_left()


@pytest.mark.parametrize(
    "command",
    [
        "sleep MARK &",
        "nohup sleep MARK >/dev/null 2>&1 &",
        "set -m; sleep MARK >/dev/null 2>&1 &",
        "setsid sleep MARK >/dev/null 2>&1 &",
        "(trap '' TERM; while :; do sleep MARK; done) >/dev/null 2>&1 &",
        "env -i /bin/sleep MARK >/dev/null 2>&1 &",
    ],
)
@pytest.mark.parametrize("how", ["killed", "ended"])
def test_what_a_finished_command_has_left_dies_too(runner, command, how):
    runner.start(command, "true")
    runner.done()
    assert runner.left()
    if how == "killed":
        runner.kill()
        runner.expect_nothing_left()
    else:
        runner.process.stdin.close()
        assert runner.process.wait(40) == 0
        assert not runner.left()


def test_what_is_started_apart_and_without_the_variable_lives_on(runner):
    runner.start("env -u CLAUDE_WRAPPER_RUN setsid sleep MARK >/dev/null 2>&1 &")
    runner.done()
    until(lambda: len(runner.left()) == 1)
    runner.process.stdin.close()
    assert runner.process.wait(40) == 0

    assert len(runner.left()) == 1


def test_the_watchman_goes_with_its_program(runner):
    runner.start("cat /proc/$PPID/task/*/children > children")
    runner.done()
    children = (runner.folder / "children").read_text().split()
    (watchman,) = [pid for pid in children if "claude-wrapper-watchman" in command_line(pid)]
    runner.process.stdin.close()
    assert runner.process.wait(40) == 0

    assert command_line(watchman) == ""


def test_a_watchman_that_was_killed_is_replaced(runner):
    runner.start("setsid sleep MARK >/dev/null 2>&1 &", "LOSE THE WATCHMAN", "sleep MARK >/dev/null 2>&1 &")
    runner.done()
    assert len(runner.left()) == 2
    runner.kill()

    runner.expect_nothing_left()


def test_one_watchman_does_for_all_commands(runner):
    runner.start(*["true"] * 5, "cat /proc/$PPID/task/*/children > children")
    runner.done()
    children = (runner.folder / "children").read_text().split()

    assert sum("claude-wrapper-watchman" in command_line(pid) for pid in children) == 1


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
