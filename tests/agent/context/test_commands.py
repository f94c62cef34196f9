"""Commands that users keep in files: which there are, and what they become."""

from pathlib import Path

import pytest

from claude_wrapper.agent.context.command_files import command_files
from claude_wrapper.agent.context.command_text import filled_in, shell_parts


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.feature("SKILL-01", "SKILL-02", "SKILL-03")
def test_the_name_is_the_files_and_the_strongest_place_counts(tmp_path: Path) -> None:
    user, project = tmp_path / "home/.claude", tmp_path / "project/.claude"
    write(user / "commands/both.md", "user")
    write(project / "commands/both.md", "project")
    write(project / "commands/team/ship.md", "ship")
    write(project / "commands/greet.md", "plain")
    write(project / "skills/greet/SKILL.md", "---\nname: other\ndescription: Greets\n---\nskill")
    write(project / "skills/no_skill/README.md", "nothing")
    found = command_files([("userSettings", user), ("projectSettings", project)])
    assert {name: file.body for name, file in found.items()} == {
        "greet": "skill",
        "both": "user",
        "team:ship": "ship",
    }
    assert found["greet"].description == "Greets"
    assert found["greet"].folder == project / "skills/greet"
    assert found["team:ship"].description == "ship"


def test_a_project_has_no_commands_that_lie_outside_of_it(tmp_path: Path) -> None:
    secret = write(tmp_path / "home/secret", "secret")
    project = tmp_path / "project/.claude"
    (project / "commands").mkdir(parents=True)
    (project / "commands/leak.md").symlink_to(secret)
    assert command_files([("projectSettings", project)]) == {}


@pytest.mark.feature("SKILL-05")
def test_a_head_that_cannot_be_read_leaves_the_text(tmp_path: Path) -> None:
    write(tmp_path / ".claude/commands/a.md", "---\ndescription: [\n---\nbody")
    write(tmp_path / ".claude/commands/b.md", "---\nuser-invocable: no\nargument-hint: [a, b]\n---\nbody")
    found = command_files([("projectSettings", tmp_path / ".claude")])
    assert (found["a"].body, found["a"].for_users) == ("body", True)
    assert (found["b"].for_users, found["b"].argument_hint) == (False, "[a, b]")


@pytest.mark.feature("SKILL-08")
@pytest.mark.parametrize(
    ("text", "expected", "used"),
    [
        ("all: $ARGUMENTS", 'all: one "two words"', True),
        ("$0 $1 $ARGUMENTS[1]", "one two words two words", True),
        ("$2 stays", "$2 stays", False),
        (r"\$1 stays", "$1 stays", False),
        ("$first $second $third.", "one two words .", True),
        ("$other ${DIR} ${UNKNOWN}", "$other /there ${UNKNOWN}", False),
    ],
)
def test_arguments_take_their_places(text: str, expected: str, used: bool) -> None:
    names = ["first", "second", "third"]
    assert filled_in(text, 'one "two words"', names, {"DIR": "/there"}) == (expected, used)


def test_a_quote_that_does_not_end_is_a_character() -> None:
    assert filled_in("$0|$1", "it's \"so", [], {}) == ("it's|\"so", True)


@pytest.mark.feature("SKILL-09")
def test_only_marks_behind_space_stand_for_shell_commands() -> None:
    text = "a !`one` b!`two`\n```!\nthree\nfour\n```\n`!`"
    assert [command for _, command in shell_parts(text) if command] == ["one", "three\nfour"]
    assert "".join(written for written, _ in shell_parts(text)) == text
