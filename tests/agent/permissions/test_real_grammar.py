"""Random command lines, run in bash with stubs for programs: whatever ran after an `allow` was covered by the rules."""

import os
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")

# No program is found, and whoever asks for one is noted down by the name that it asks for.
NOTES = """command_not_found_handle() { printf '%s\\n' "$1" >> "$NOTED"; }
number=0
for line in "$@"; do (cd "$number" && eval "$line"); number=$((number + 1)); printf -- '--\\n' >> "$NOTED"; done
"""
ALLOWED = ["Bash(good:*)", "Bash(fine *)"]
GRANTED = {"good", "fine", "grep", "ls", "cat"}

programs = st.sampled_from(
    ["good", "good", "fine", "bad", "'good'", "g\\ood", "$X", "{good,bad}", "b\\ad", "nice bad"]
)
texts = st.sampled_from(
    [
        "a",
        "b c",
        "-x",
        "*",
        "~",
        "$X",
        "$(bad)",
        "`bad`",
        "${X:-$(bad)}",
        "#",
        ";",
        "&",
        "|",
        "\n",
        "é",
        "$((1+1))",
    ]
)


def quoted(text: str, how: str) -> str:
    return {"'": f"'{text}'", '"': f'"{text}"', "$'": f"$'{text}'", "": text, "\\": f"\\{text}"}[how]


words = st.builds(quoted, texts, st.sampled_from(["'", '"', "$'", "", "\\"]))
redirects = st.sampled_from(
    [
        "",
        "",
        " >/dev/null",
        " 2>&1",
        " <<< a",
        " < /dev/null",
        " >&2",
        " <<'E'\n$(bad)\nE\n",
        " <<E\n$(bad)\nE\n",
    ]
)
prefixes = st.sampled_from(["", "", "LANG=C ", "X=bad ", "PATH=/x ", "! ", "timeout 5 ", "command ", "time "])
simple = st.builds(
    lambda prefix, program, arguments, redirect: f"{prefix}{program} {' '.join(arguments)}{redirect}",
    prefixes,
    programs,
    st.lists(words, max_size=3),
    redirects,
)
glue = st.sampled_from([" && ", " || ", "; ", ";", " | ", "\n", " & ", " |& ", "&&", " #\n", " \\\n && "])
around = st.sampled_from(
    [
        "{}",
        "{}",
        "({})",
        "{{ {}; }}",
        "if {}; then {}; fi",
        "for i in a b; do {}; done",
        "$({})",
        "f() {{ {}; }}; f",
    ]
)


def joined(parts: list[tuple[str, str]]) -> str:
    return "".join(part + between for part, between in parts[:-1]) + parts[-1][0]


lists = st.lists(st.tuples(simple, glue), min_size=1, max_size=3).map(joined)
lines = st.builds(lambda shape, first, second: shape.format(first, second), around, lists, lists)
batches = st.lists(lines, min_size=30, max_size=30)


def what_bash_asks_for(batch: list[str], folder) -> list[set[str]]:
    """The programs that each line starts, each line in a shell and a folder of its own."""
    noted = folder / "noted"
    noted.write_text("")
    for number in range(len(batch)):
        (folder / str(number)).mkdir()
    subprocess.run(
        [BASH, "-c", NOTES, "bash", *batch],
        cwd=folder,
        env={"PATH": "/nonexistent", "NOTED": str(noted), "HOME": "/h"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=50,
        check=False,
    )
    parts = os.fsdecode(noted.read_bytes()).split("--\n")[:-1]
    assert len(parts) == len(batch)
    return [set(part.splitlines()) for part in parts]


@pytest.mark.feature("RULE-04", "RULE-05", "RULE-06")
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(batch=batches)
def test_whatever_runs_after_an_allow_was_covered_by_the_rules(shared, tmp_path_factory, batch):
    policy = shared.policy(allow=ALLOWED).changed(home="/h")
    allowed = [line for line in batch if shared.bash(line, policy).behavior == "allow"]
    folder = tmp_path_factory.mktemp("lines")
    try:
        ran = what_bash_asks_for(allowed, folder)
    finally:
        shutil.rmtree(folder)
    # A wrapper is not found either, and so starts nothing. (`time` is one behind a pipe.)
    uncovered = [
        (line, names - GRANTED - {"time", "timeout"}) for line, names in zip(allowed, ran, strict=True)
    ]
    assert [found for found in uncovered if found[1]] == []


@pytest.mark.feature("PERM-04", "RULE-04")
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(batch=batches)
def test_a_refused_program_never_runs_where_every_other_may(shared, tmp_path_factory, batch):
    policy = shared.policy(allow=["Bash"], deny=["Bash(bad:*)"]).changed(home="/h")
    allowed = [line for line in batch if shared.bash(line, policy).behavior == "allow"]
    folder = tmp_path_factory.mktemp("lines")
    try:
        ran = what_bash_asks_for(allowed, folder)
    finally:
        shutil.rmtree(folder)
    assert [line for line, names in zip(allowed, ran, strict=True) if "bad" in names] == []
