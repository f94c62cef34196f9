"""Every program of the cookbook runs as it stands, with our agent and a scripted model."""

import re
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

LIMIT = 50


@dataclass
class Scene:
    """What a model says to the programs of a section, one list for each, and what they print."""

    models: list = field(default_factory=list)
    prints: list = field(default_factory=list)
    typed: str = ""
    order: str = "queue"


def findings():
    return [{"file": "hello.py", "line": 1, "problem": "a parenthesis is open"}]


SCENES = {
    "Ask once": Scene([[say("It greets people.")]], ["It greets people.\n1 turns, session "]),
    "See what the agent does": Scene(
        [
            [say("Let me see.") + call("Read", file_path="hello.txt"), say("Good morning.")],
            [say("Once upon a time")],
        ],
        ["says Let me see.\ncalls Read ['file_path']\ngot 1\tGood morning", "Once upon a time"],
    ),
    "Choose model, tools, folder and limits": Scene(
        [[say("A parenthesis is missing.")]],
        ["A parenthesis is missing.\nClaudeAgentOptions.permission_mode "],
    ),
    "Have a conversation": Scene(
        [[say("Hello Ada."), say("Ada.")]], ["Hello Ada.\nAda.\ntokens in use: True"]
    ),
    "Stop a turn": Scene(
        [[call("Bash", command="sleep 60"), say("I waited.")]], ["stopped: error_during_execution\nI waited."]
    ),
    "Decide what it may do": Scene(
        [[call("Bash", command="touch file.txt"), call("Bash", command="rm file.txt"), say("Done.")]],
        ["asked about Bash touch file.txt\nasked about Bash rm file.txt\nrefused: ['Bash']"],
    ),
    "Look at every call with hooks": Scene(
        [[call("Read", file_path=".env"), call("Read", file_path="hello.txt"), say("Good morning.")]],
        ["Good morning.\nran: ['Read']"],
    ),
    "Give it tools of your own": Scene(
        [[call("mcp__shop__in_stock", fruit="apples"), say("Yes, three.")]], ["Yes, three."]
    ),
    "Give it a server that you have already": Scene(
        [[call("mcp__words__spell", word="apple"), say("a-p-p-l-e")]], ["a-p-p-l-e"]
    ),
    "Get data instead of text": Scene(
        [[call("StructuredOutput", output=findings())]], ["hello.py:1: a parenthesis is open"]
    ),
    "Go on with a session": Scene(
        [[say("7 it is."), say("7."), say("14.")]],
        ["7 it is.\n7.\nThe number - 4 messages\n14."],
    ),
    "Know what went wrong": Scene(
        [[call("Read", file_path="hello.txt"), say("A greeting.")]],
        ["the run ended in error_max_turns after session True"],
    ),
    "Stop what leads nowhere": Scene(
        [[call("Read", file_path="missing.txt")] * 9], ["given up: 3 tool calls in a row have failed"]
    ),
    "Start agents ahead": Scene(
        [[say("A colour.")]], ["['A colour.', 'A colour.', 'A colour.']"], order="history"
    ),
    "Without an event loop": Scene(
        [[say("A project."), call("Bash", command="touch made"), say("I may not.")]],
        ["A project.\nAllow Bash? [y/n] I may not."],
        typed="n\n",
    ),
    "Test your program with a scripted model": Scene([[]], ["1 passed"]),
    "Test your program with an agent that misbehaves": Scene([[]], ["2 passed"]),
    "Test your program with a recording": Scene(
        [[call("Bash", command="touch made"), say("It is made.")], []], ["It is made.", "2 passed"]
    ),
}
"""By the title of the section."""


def test_every_section_has_its_scene(sections):
    programs = {section.title: len(section.programs) for section in sections("docs/cookbook.md")}
    assert programs == {title: len(scene.prints) for title, scene in SCENES.items()}


@pytest.fixture
def play(sections, project, program_environment):
    """Runs the programs of a section, changed by a function, and compares what they print."""

    def play(title, change=str):
        (section,) = [section for section in sections("docs/cookbook.md") if section.title == title]
        scene = SCENES[title]
        for program, model, prints in zip(section.programs, scene.models, scene.prints, strict=True):
            name = re.match(r"# (\w+\.py)\n", program)
            path = project / (name[1] if name else "program.py")
            path.write_text(change(program), encoding="utf-8")
            as_test = (
                ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if path.name.startswith("test_") else []
            )
            with ScriptedModel(model, order=scene.order) as api:
                done = subprocess.run(
                    [sys.executable, "-W", "error", *as_test, path.name],
                    cwd=project,
                    env={**program_environment, **api.environment()},
                    input=scene.typed,
                    capture_output=True,
                    text=True,
                    timeout=LIMIT,
                    check=False,
                )
            assert done.returncode == 0, done.stdout + done.stderr
            assert prints in done.stdout
            assert done.stderr == ""

    return play


@pytest.mark.parametrize("title", SCENES)
def test_the_programs_of_a_section_run_as_they_stand(title, play):
    play(title)


@pytest.mark.parametrize(
    "title", ["Ask once", "Stop a turn", "Decide what it may do", "Give it tools of your own"]
)
def test_they_run_under_trio_as_the_cookbook_says(title, play):
    def under_trio(program):
        changed = program.replace("import asyncio\n", "import trio\n")
        changed = changed.replace("asyncio.run(main())", "trio.run(main)")
        assert "asyncio" not in changed
        return changed

    play(title, under_trio)
