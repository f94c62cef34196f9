"""What the README shows works: its examples are run, its commands are called, its tables are true."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from claude_wrapper.cli.exits import EXPLANATIONS
from claude_wrapper.testing import ScriptedModel, call, say

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAMS = Path(sys.executable).parent

ADDING = call("mcp__calculator__add", a=19, b=23) + call("Bash", command="touch forbidden")

# What the model says in each example, and what the example must then print.
EXAMPLES = {
    "Run an agent": (
        [call("Bash", command="echo hi"), say("Fixed.")],
        [r"^Fixed\.$", r"^2 turns, \$0\.\d{4}, session [0-9a-f-]{36}$"],
    ),
    "Talk to it, decide its calls, give it a tool": (
        [ADDING, say("It is 42.")],
        [r"'42\.0'|\"42\.0\"|text': '42", "Bash is not allowed here", r"It is 42\."],
    ),
    "Test your program without a key": ([], []),
}


def blocks(language):
    """The code blocks of a language, each with the heading that it stands under."""
    heading = ""
    for part in re.split(r"(?m)^(?=## |```)", README):
        if part.startswith("## "):
            heading = part[3:].splitlines()[0]
        elif part.startswith(f"```{language}\n"):
            yield heading, part.removeprefix(f"```{language}\n")


@pytest.fixture
def environment(tmp_path):
    path = os.pathsep.join([str(PROGRAMS), os.environ["PATH"]])
    return {"PATH": path, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}


def run(command, environment, cwd):
    return subprocess.run(
        command,
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_every_example_is_tried():
    assert [heading for heading, _ in blocks("python")] == list(EXAMPLES)


@pytest.mark.parametrize(("heading", "source"), list(blocks("python")))
def test_an_example_works(heading, source, environment, tmp_path):
    script, expected = EXAMPLES[heading]
    with ScriptedModel(script) as model:
        done = run(
            [sys.executable, "-W", "error", "-c", source], {**environment, **model.environment()}, tmp_path
        )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for pattern in expected:
        assert re.search(pattern, done.stdout, re.MULTILINE), done.stdout
    assert not (tmp_path / "forbidden").exists()


@pytest.mark.parametrize(("heading", "source"), list(blocks("python")))
def test_an_example_is_short(heading, source):
    lines = [line for line in source.splitlines() if line.strip() and line != "```"]
    assert len(lines) <= 20, heading


def commands():
    for _, block in blocks("sh"):
        for line in block.splitlines():
            if "claude-wrapper run" in line:
                yield line


@pytest.mark.skipif(os.name != "posix", reason="the commands are for a POSIX shell")
@pytest.mark.parametrize("command", list(commands()))
def test_a_command_works(command, environment, tmp_path):
    run(["git", "init", "-q"], environment, tmp_path)
    with ScriptedModel([say("The answer.")]) as model:
        done = run(["sh", "-c", command], {**environment, **model.environment()}, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The answer." in done.stdout


def test_there_are_commands_to_try():
    assert len(list(commands())) >= 4


def test_the_extras_to_install_exist():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (named,) = re.findall(r'pip install "\.\[([a-z,]+)\]"', README)
    for extra in named.split(","):
        assert re.search(rf"^{extra} = \[", pyproject, re.MULTILINE)


def test_the_scripts_are_there_and_can_be_started():
    named = re.findall(r"^(scripts/\w+) ", README, re.MULTILINE)
    assert named == ["scripts/demo", "scripts/test"]
    for script in named:
        assert os.access(ROOT / script, os.X_OK)


def test_the_exit_codes_are_those_of_the_program():
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", README, re.MULTILINE)
    assert [(int(code), text) for code, text in rows] == [
        (code.value, text) for code, text in EXPLANATIONS.items()
    ]


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^):]+)\)", README):
        assert (ROOT / target).is_file(), target
