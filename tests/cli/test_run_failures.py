"""How `run` ends when something goes wrong: its exit codes and what it says on stderr."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from claude_wrapper.testing import ScriptedModel, call, fail, refused_url, say, stall
from claude_wrapper.testing.polling import poll

SESSION_ID = "5e551011-0000-4000-8000-000000000001"

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def written_number(path):
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return None


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def told(done):
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [[], ["--json"], ["--quiet"]])
def test_without_a_key_the_three_ways_out_are_named(cli, words):
    code, said = told(cli("run", "Go", *words))
    assert code == 4
    assert "there is no key for the API" in said
    assert "set ANTHROPIC_API_KEY" in said
    assert "set ANTHROPIC_BASE_URL" in said
    assert "claude-wrapper demo" in said
    assert "/login" not in said


def test_a_bearer_token_is_a_key(cli):
    with ScriptedModel([say("hi")]) as model:
        env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_AUTH_TOKEN": "token"}
        code, said = told(cli("run", "Go", env=env))
    assert code == 0, said


def test_a_key_that_the_api_refuses_is_told_without_the_key(cli):
    with ScriptedModel([fail(401, times=None, message="invalid x-api-key")]) as model:
        code, said = told(
            cli(
                "run",
                "Go",
                env={**model.environment(ANTHROPIC_API_KEY="sk-wrong-one"), "CLAUDE_CODE_MAX_RETRIES": "0"},
            )
        )
    assert code == 4
    assert "the API refused the key" in said
    assert "sk-wrong-one" not in said


def test_an_api_that_fails_ends_in_1_with_its_words(cli):
    with ScriptedModel([fail(400, times=None, message="bad field")]) as model:
        code, said = told(cli("run", "Go", env=model.environment()))
    assert code == 1
    assert "bad field" in said


def test_an_api_that_cannot_be_reached_ends_in_1(cli):
    with refused_url() as url:
        env = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_MAX_RETRIES": "1"}
        code, said = told(cli("run", "Go", env=env))
    assert code == 1
    assert "The API could not be reached, or broke off; try 1 of 1" in said
    assert "nothing answers at 127.0.0.1" in said


def test_the_limit_of_turns_ends_in_1_with_the_way_to_go_on(cli):
    with ScriptedModel([call("Bash", command="true")]) as model:
        code, said = told(cli("run", "Go", "--max-turns", "2", "--allow", "Bash", env=model.environment()))
    assert code == 1
    assert "the limit of turns is reached" in said
    assert "claude-wrapper run --resume" in said


def test_a_budget_that_is_spent_ends_in_1(cli):
    with ScriptedModel([call("Bash", command="true")]) as model:
        code, said = told(
            cli("run", "Go", "--max-budget-usd", "0.0001", "--allow", "Bash", env=model.environment())
        )
    assert code == 1
    assert "the budget is spent" in said


def test_an_agent_that_is_not_there_ends_in_3(cli):
    code, said = told(cli("run", "Go", "--agent", "/no/such/agent"))
    assert code == 3
    assert "/no/such/agent" in said


def test_an_agent_that_ends_before_it_is_ready_ends_in_3_with_its_words(cli, agent):
    agent.stderr("no such model\n").exit(7)
    code, said = told(cli("run", "Go", "--agent", str(agent.path)))
    assert code == 3
    assert "exit code: 7" in said
    assert "    no such model" in said


def test_an_agent_that_dies_ends_in_5_with_its_last_words(cli, agent):
    agent.begin().stderr("".join(f"line {n}\n" for n in range(50))).exit(9)
    code, said = told(cli("run", "Go", "--agent", str(agent.path)))
    assert code == 5
    assert "exit code: 9" in said
    assert "    line 49" in said
    assert "line 39\n" not in said


@posix
def test_an_agent_that_is_killed_ends_in_5_with_the_signal(cli, agent):
    agent.begin().kill(signal.SIGKILL)
    code, said = told(cli("run", "Go", "--agent", str(agent.path)))
    assert code == 5
    assert "SIGKILL" in said


def test_an_agent_that_ends_without_a_result_ends_in_5(cli, agent):
    agent.begin().say("half").exit(0)
    code, said = told(cli("run", "Go", "--agent", str(agent.path)))
    assert code == 5
    assert "without a result" in said


def test_an_agent_that_dies_at_the_prompt_was_started(cli, agent):
    agent.wait("init").wait("user").exit(9)
    code, said = told(cli("run", "Go", "--agent", str(agent.path)))
    assert code == 5
    assert "exit code: 9" in said


def test_a_session_can_be_gone_on_with_though_its_agent_died(cli, agent):
    agent.begin().exit(9)
    _, said = told(cli("run", "Go", "--agent", str(agent.path)))
    assert f"claude-wrapper run --resume {SESSION_ID}" in said


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_lines_that_are_no_frames_are_told_and_passed_over(cli, agent, words):
    agent.begin().raw("{broken\x1b}\n").result("done")
    code, said = told(cli("run", "Go", *words, "--agent", str(agent.path)))
    assert code == 0
    assert "is no frame and was skipped" in said
    assert "\x1b" not in said


def test_a_bug_of_ours_has_an_exit_code_of_its_own(cli, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['anyio'] = None")
    done = cli("run", "Go", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 70
    assert "Traceback" in done.stderr


def test_what_an_agent_says_cannot_steer_the_terminal(cli, agent):
    agent.begin().say("\x1b]0;title\x07 a \u202e b").stderr("\x1b[2J\n").exit(9)
    _, said = told(cli("run", "Go", "--agent", str(agent.path)))
    assert "\\x1b]0;title\\x07 a \\u202e b" in said
    assert "\x1b" not in said


@posix
def test_time_that_is_up_ends_in_124_with_what_was_done(start):
    with ScriptedModel([call("Bash", command="true"), stall("never") + say("late")]) as model:
        process = start("run", "Go", "--timeout", "4", "--allow", "Bash", env=model.environment())
        model.wait_request(2)
        _, said = process.communicate(timeout=30)
        model.gate("never").release()
    assert process.returncode == 124
    assert "timed out after" in said
    assert "claude-wrapper run --resume" in said


@posix
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_interrupts_the_agent_and_shows_what_was_done(start, work, number, code):
    with ScriptedModel([say("I wait.") + call("Bash", command="echo $$ > pid; sleep 60")]) as model:
        process = start("run", "Go", "--allow", "Bash", env=model.environment())
        pid = poll(lambda: written_number(work / "pid"), "the shell's process id", 20)
        process.send_signal(number)
        stdout, said = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (code, "")
    assert "I wait." in said
    assert f"interrupted by {number.name} after" in said
    assert "claude-wrapper run --resume" in said
    assert "Traceback" not in said
    poll(lambda: not is_alive(pid), "the end of the shell", 20)


@posix
def test_an_agent_that_does_not_stop_is_left_at_the_second_signal(start, agent):
    agent.begin().ignore_term().say("deaf").mute("interrupt").wait("mute:interrupt").sleep(600)
    process = start("run", "Go", "--stream-json", "--agent", str(agent.path))
    while "deaf" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    agent.wait_run().wait_frame("interrupt")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted by SIGINT" in said
    agent.wait_run().wait_gone()


@posix
def test_an_interrupt_before_the_agent_is_ready_ends_it(start, agent):
    agent.mute("initialize").wait("eof")
    process = start("run", "Go", "--agent", str(agent.path))
    agent.wait_run()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    agent.wait_run().wait_gone()


@posix
def test_a_reader_that_stops_reading_ends_it_quietly(start, agent):
    agent.begin().say("line").emit({"type": "system", "subtype": "tick"}, times=2000).wait("eof")
    process = start("run", "Go", "--stream-json", "--agent", str(agent.path))
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) == 141
    assert process.stderr.read() == ""
    agent.wait_run().wait_gone()


@posix
@pytest.mark.parametrize("words", [["--json"], ["--quiet"], []])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_disk_is_told(start, agent, words):
    agent.begin().result("done")
    with Path("/dev/full").open("w") as full:
        process = start("run", "Go", *words, "--agent", str(agent.path), stdout=full)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 74
    assert "No space left on device" in said
    assert "Traceback" not in said
    assert "Exception ignored" not in said


@posix
def test_progress_that_nobody_reads_ends_it_too(start, agent):
    agent.begin()
    for _ in range(200):
        agent.say("words\n" * 2000)
    agent.wait("eof")
    process = start("run", "Go", "--agent", str(agent.path))
    process.stderr.readline()
    process.stderr.close()
    assert process.wait(30) == 141


def test_the_exit_codes_are_explained_in_the_help(cli):
    for words in (["--help"], ["run", "--help"], ["demo", "--help"]):
        done = cli(*words)
        assert done.returncode == 0
        assert "124  the time given by --timeout was up" in done.stdout


def test_every_exit_code_is_explained():
    from claude_wrapper.cli.exits import EXPLANATIONS, Exit

    assert set(EXPLANATIONS) == set(Exit)


def test_the_version_is_told(cli):
    from claude_wrapper import __version__

    assert cli("--version").stdout == f"claude-wrapper {__version__}\n"


def test_importing_the_command_line_loads_nothing_heavy():
    code = "import sys, claude_wrapper.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    loaded = set(done.stdout.split())
    assert "claude_wrapper" in loaded
    assert not loaded & {"rich", "anyio", "asyncio", "msgspec", "argparse", "dataclasses", "subprocess"}
