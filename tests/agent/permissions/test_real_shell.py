"""What we say a line runs, against what the shell runs: a line that counts as checked hides nothing."""

import os
import random
import shutil
import subprocess

import pytest

from claude_wrapper.agent.permissions.bash import BashCase
from claude_wrapper.agent.permissions.call import Call
from claude_wrapper.agent.permissions.shell import read_line
from claude_wrapper.agent.permissions.wrappers import unwrapped

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")

# Programs are not found, and whoever asks for one is noted down with all its arguments.
PRELUDE = r"""command_not_found_handle(){ local IFS=$'\x1f'; printf '%s\x1e' "$*" >> "$NOTED"; }
"""
LOOP = r"""
number=0
for line in "$@"; do (cd "$number" && eval "$line"); number=$((number + 1)); printf '\x1d' >> "$NOTED"; done
"""
PIECES = [
    *["p", "q", "a", "b", " ", " ", " "] * 3,
    *["\n", "'", '"', "\\", "\\\n", ";", "&&", "||", "|", "|&", "&", "#", " #", "<", "<<", "<<<", ">", ">>"],
    *[
        "2>",
        "$",
        "$HOME",
        "$X",
        "`",
        "$(",
        ")",
        "(",
        "{",
        "}",
        " { ",
        "[",
        "]",
        "[[",
        "]]",
        "!",
        " ! ",
        "if ",
    ],
    *["then ", "fi", "else ", "for ", "in ", "case ", "esac", "E", "'E'", "\nE\n", "\\E"],
    *["-", "=", "p=", "*", "~", ",", "1", "2", "\t", "-f ", "==", "=~", ";;", "&>", ">&", ">|", "<(", "$(("],
    *["$'", '$"', "function ", "p()", "coproc ", "-eq ", "-v ", "{}", "%", "@", "+(", "é"],
]
LINES = [
    "p a b",
    "p 'a' q; q",
    "if p; then q a; else p; fi",
    "p <<'E'\na\nE\nq",
    'p "a" | q b',
    "[ -f a ] && p",
    "[[ a = b ]] || p q",
    "p a > b c",
    "p && q > b c",
    "p | q > b c",
    "! p > b c",
    "p \\\n q",
    "p # a\nq",
    "! p a && q",
    'p "$HOME" q',
    "2> a p b",
    "a=b p q",
    "p -<<'E'\na\nE\nq",
    "p <<'E'a\nb\nEa\nq",
    "p ~'a' ~ a~ b=~",
    "p a >& -v",
    "p a >& 2v",
    "p ! == q",
    "! if p; then q a; fi",
]


def generated(count: int) -> list[str]:
    chance = random.Random(20261130)
    lines = []
    for _ in range(count):
        line = chance.choice(LINES) if chance.random() < 0.7 else ""
        for _ in range(chance.randint(1, 3) if line else chance.randint(1, 8)):
            at = chance.randint(0, len(line))
            line = line[:at] + chance.choice(PIECES) + line[at:]
        lines.append(line)
    return lines


def what_bash_runs(lines: list[str], folder) -> list[set[tuple[str, ...]]]:
    """The commands that each line runs, in a subshell and a folder of its own."""
    noted = folder / "noted"
    environment = {"PATH": "/nonexistent", "NOTED": str(noted), "HOME": "/h"}
    for number in range(len(lines)):
        (folder / str(number)).mkdir()
    subprocess.run(
        [BASH, "-c", PRELUDE + LOOP, "bash", *lines],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=50,
        check=False,
    )
    parts = os.fsdecode(noted.read_bytes()).split("\x1d")[:-1]
    assert len(parts) == len(lines)
    return [{tuple(item.split("\x1f")) for item in part.split("\x1e")[:-1]} for part in parts]


def is_shown(ran: tuple[str, ...], line: str) -> bool:
    """Whether a command of the line is this one; words that are not known before may be anything."""
    for command in read_line(line, "/h").commands:
        for inner in unwrapped(command):
            values = [None if word.is_glob else word.value for word in inner.words]
            if len(values) == len(ran) and all(
                value in (None, item) for value, item in zip(values, ran, strict=True)
            ):
                return True
    return False


def counts_as_checked(line: str, place) -> bool:
    policy = place.policy().changed(home="/h")
    return BashCase(Call("Bash", {"command": line}, place.project), policy).unchecked is None


@pytest.mark.feature("RULE-04")
def test_the_shell_runs_nothing_that_a_checked_line_does_not_show(shared, tmp_path):
    checked = [line for line in [*LINES, *generated(1500)] if counts_as_checked(line, shared)]
    # `time` may be followed by words that are no program; a line with it only counts as checked, it is not read.
    checked = [line for line in checked if "time" not in line]
    results = zip(checked, what_bash_runs(checked, tmp_path), strict=True)
    hidden = [(line, ran) for line, every in results for ran in every if not is_shown(ran, line)]
    assert hidden == []
    assert len(checked) > 100
