"""What `run` hands to the agent, and where the prompt comes from."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from claude_wrapper.testing import ScriptedAgent, ScriptedModel, say


@pytest.fixture
def agent(tmp_path):
    with ScriptedAgent(tmp_path) as agent:
        yield agent.begin().result("done")


def prompt_of(agent):
    frames = [frame for frame in agent.wait_run().frames if frame["type"] == "user"]
    return frames[0]["message"]["content"]


def test_options_reach_the_agent(cli, agent, tmp_path):
    done = cli(
        *("run", "Go", "--agent", str(agent.path), "--model", "sonnet", "--cwd", str(tmp_path)),
        *("--allow", "Edit", "--allow", "Bash(git log:*)", "--deny", "WebFetch", "--permission-mode", "plan"),
        *("--max-turns", "7", "--max-budget-usd", "0.5", "--system-prompt", "Be brief", "--resume", "abc"),
    )
    assert done.returncode == 0, done.stderr
    argv = agent.wait_run().argv
    for flag, value in [
        ("--model", "sonnet"),
        ("--allowedTools", "Edit,Bash(git log:*)"),
        ("--disallowedTools", "WebFetch"),
        ("--permission-mode", "plan"),
        ("--max-turns", "7"),
        ("--max-budget-usd", "0.5"),
        ("--system-prompt", "Be brief"),
    ]:
        assert argv[argv.index(flag) + 1] == value
    assert "--resume=abc" in argv
    assert agent.wait_run().cwd == tmp_path


def test_the_agent_keeps_its_own_system_prompt_by_default(cli, agent):
    cli("run", "Go", "--agent", str(agent.path))
    assert "--system-prompt" not in agent.wait_run().argv


@pytest.mark.parametrize(
    ("words", "data", "prompt"),
    [
        (["Fix it"], None, "Fix it"),
        (["Fix", "the", "bug"], None, "Fix the bug"),
        (["-"], "from stdin\n", "from stdin\n"),
        ([], "from stdin", "from stdin"),
        (["Review"], "+ a line\n", "Review\n\n+ a line\n"),
        (["Look at", "-", "and say why"], "an error", "Look at\n\nan error\n\nand say why"),
        (["Go"], "", "Go"),
        (["Go"], " \n", "Go"),
        (["-"], "\ufeffwith a mark", "with a mark"),
        (["--", "--not-an-option"], None, "--not-an-option"),
    ],
)
def test_the_prompt_is_put_together(cli, agent, words, data, prompt):
    done = cli("run", "--agent", str(agent.path), *words, data=data)
    assert done.returncode == 0, done.stderr
    assert prompt_of(agent) == prompt


def test_bytes_on_stdin_that_are_no_text_are_replaced(cli, agent):
    cli("run", "-", "--agent", str(agent.path), data=b"a\xffb", text=False)
    assert prompt_of(agent) == "a\ufffdb"


def test_a_pipe_that_stays_open_and_empty_is_given_up(start, agent):
    reader, writer = os.pipe()
    process = start("run", "Go", "--agent", str(agent.path), stdin=reader)
    stdout, stderr = process.communicate(timeout=30)
    os.close(reader)
    os.close(writer)
    assert (process.returncode, stdout) == (0, "done\n")
    assert "nothing came on stdin within 3 s" in stderr


def test_a_prompt_may_be_large(cli, agent):
    text = "word " * 400_000
    assert cli("run", "-", "--agent", str(agent.path), data=text).returncode == 0
    assert len(prompt_of(agent)) == len(text)


@pytest.mark.parametrize(
    ("words", "data", "complaint"),
    [
        (["run"], None, "there is no prompt"),
        (["run", " "], " \n", "there is no prompt"),
        (["run", "-"], "x" * (10 * 1024 * 1024 + 1), "stdin has more than 10 MB"),
        (["run", "Go", "--nope"], None, "unrecognized arguments: --nope"),
        (["run", "Go", "--max-turns", "0"], None, "'0' is not a whole number above 0"),
        (["run", "Go", "--max-budget-usd", "nan"], None, "'nan' is not a number above 0"),
        (["run", "Go", "--timeout", "-1"], None, "'-1' is not a number above 0"),
        (["run", "Go", "--cwd", "missing"], None, "missing does not exist"),
        (["run", "Go", "--permission-mode", "yes"], None, "invalid choice: 'yes'"),
        (["run", "Go", "--json", "--quiet"], None, "not allowed with argument"),
        (["run", "Go", "--model", ""], None, "--model: the value is empty"),
        ([], None, "the following arguments are required: COMMAND"),
        (["rum"], None, "invalid choice: 'rum'"),
    ],
)
def test_a_wrong_command_line_starts_nothing_and_ends_with_2(cli, agent, words, data, complaint):
    done = cli(*words, data=data, env={"CLAUDE_WRAPPER_AGENT": str(agent.path)})
    assert done.returncode == 2, done
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not agent.runs


def test_closed_streams_do_not_matter(environment, agent, work):
    closed = f"exec {sys.executable} -m claude_wrapper run Go --agent {agent.path} <&- >&- 2>&-"
    done = subprocess.run(["sh", "-c", closed], env=environment, cwd=work, timeout=30, check=False)
    assert done.returncode == 0


def test_the_installed_script_and_the_module_are_one(cli, environment):
    script = Path(sys.executable).parent / "claude-wrapper"
    with ScriptedModel([say("hi")]) as model:
        by_script = subprocess.run(
            [script, "run", "Go", "--quiet"],
            env={**environment, **model.environment()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        by_module = cli("run", "Go", "--quiet", env=model.environment())
    assert by_script.stdout == by_module.stdout == "hi\n"
