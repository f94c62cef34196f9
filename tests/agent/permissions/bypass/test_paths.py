"""Paths that try to get around rules, held against the file that opening them would reach."""

import os
from itertools import product
from pathlib import Path

import pytest

from claude_wrapper.agent.permissions.call import Call
from claude_wrapper.agent.permissions.decide import decide
from claude_wrapper.agent.permissions.policy import Policy

LEADS = (
    *("", "./", ".//", "sub/../", "sub/./../", "sub//..//", "kept/sub/../../", "././sub/.././"),
    *("to-dir/", "to-cwd/", "to-dir/to-dir/", "to-parent/project/", "sub/to-up/", "sub/to-up/sub/../"),
    *("../project/", "../project/sub/../", "../home/../project/", "~/../project/", "~/.//../project/./"),
    *("{project}/", "{project}//", "{project}/./", "{project}/sub/..//", "/{project}/", "///{project}/"),
    *("/proc/self/cwd/", "/proc/self/root{project}/", "/proc/thread-self/cwd/", "/../..{project}/"),
)
READ = (".env", ".env/", ".env/.", "./.env", "to-env", "to-to-env", ".ENV")
WRITTEN = (
    "kept.txt",
    "to-kept",
    "kept/f",
    "kept/new",
    "kept//new",
    "kept/./new",
    "kept/sub/../f",
    "kept/sub/new",
    "KEPT.TXT",
)
OUTSIDE = (
    *(
        "../outside/secret",
        "to-outside/secret",
        "to-secret",
        "to-parent/outside/secret",
        "sub/../../outside/secret",
    ),
    *(
        "~/../outside/secret",
        "{project}/../outside/secret",
        "to-outside/../outside/secret",
        "to-dir/to-secret",
    ),
    *("to-outside/./secret", "to-outside//secret", "../outside/new", "to-outside/new", "to-outside/x/../new"),
    *(
        "../outside/../outside/new",
        "/proc/self/cwd/../outside/new",
        "sub/to-up/to-outside/new",
        "~/new",
        "../new",
    ),
)
REFUSED = {
    "relative": ["Read(./.env)", "Edit(./kept.txt)", "Edit(./kept/**)"],
    "bare": ["Read(.env)", "Edit(kept.txt)", "Edit(kept/**)"],
    "of the settings": ["Read(/.env)", "Edit(/kept.txt)", "Edit(/kept)"],
    "from the root": ["Read(/{project}/.env)", "Edit(/{project}/kept*)"],
    "patterns": ["Read(.e?v)", "Edit(kep[t].txt)", "Edit(**/kept/**)"],
}


def policy(arena, mode, deny) -> Policy:
    rules = [text.format(project=arena.project) for text in deny]
    plain = Policy(mode=mode, original_cwd=str(arena.project), home=str(arena.home))
    return plain.with_rules(rules, "deny", "cliArg")[0]


def decided(arena, tool: str, path: str, rules: Policy) -> str:
    call = Call(tool, {"file_path": path, "content": ""}, arena.project, (arena.project,))
    return decide(call, rules).behavior


def reached(arena, path: str) -> Path:
    """The file that a program in the project would open."""
    expanded = str(arena.home) + path[1:] if path.startswith("~/") else path
    expanded = expanded.replace("/proc/self/cwd", str(arena.project)).replace(
        "/proc/thread-self/cwd", str(arena.project)
    )
    return Path(os.path.realpath(arena.project / expanded.replace("/proc/self/root", "/")))


def below(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


@pytest.mark.feature("RULE-09", "RULE-14")
@pytest.mark.parametrize("rules", REFUSED.values(), ids=REFUSED)
def test_no_way_of_writing_a_path_reads_a_refused_file(arena, rules):
    refusing = policy(arena, "bypassPermissions", rules)
    tried = [lead.format(project=arena.project) + name for lead, name in product(LEADS, READ)]
    read = [path for path in tried if reached(arena, path) == arena.project / ".env"]
    assert len(read) > 100
    assert [path for path in read if decided(arena, "Read", path, refusing) == "allow"] == []


@pytest.mark.feature("RULE-09", "RULE-11", "RULE-14")
@pytest.mark.parametrize("rules", REFUSED.values(), ids=REFUSED)
def test_no_way_of_writing_a_path_changes_a_refused_file(arena, rules):
    refusing = policy(arena, "bypassPermissions", rules)
    refused = (arena.project / "kept.txt", arena.project / "kept")
    tried = [lead.format(project=arena.project) + name for lead, name in product(LEADS, WRITTEN)]
    written = [path for path in tried if any(below(reached(arena, path), file) for file in refused)]
    assert len(written) > 150
    for tool in ("Write", "Edit"):
        assert [path for path in written if decided(arena, tool, path, refusing) == "allow"] == []


@pytest.mark.feature("PERM-11", "PERM-34", "RULE-14")
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "dontAsk", "plan"])
def test_no_way_of_writing_a_path_leaves_the_project(arena, mode):
    paths = [path.format(project=arena.project) for path in OUTSIDE]
    assert not any(below(reached(arena, path), arena.project) for path in paths)
    for tool in ("Read", "Write", "Edit"):
        assert [
            path for path in paths if decided(arena, tool, path, policy(arena, mode, [])) == "allow"
        ] == []


def test_loops_and_links_to_nowhere_are_no_way_out(arena):
    arena.reset()
    links = {"loop": "loop", "loop-a": "loop-b", "loop-b": "loop-a", "nowhere": "../outside/nothing"}
    for name, target in links.items():
        (arena.project / name).symlink_to(target)
    try:
        rules = policy(arena, "acceptEdits", [])
        for path in ("nowhere", "loop", "loop-b"):
            assert decided(arena, "Write", path, rules) == "deny"
        for path in ("loop/x", "loop-a/../a"):
            assert decided(arena, "Write", path, rules) in ("ask", "allow")
    finally:
        for name in links:
            (arena.project / name).unlink()


def test_a_file_that_turns_into_a_link_between_two_calls_is_looked_at_again(arena):
    arena.reset()
    rules = policy(arena, "acceptEdits", REFUSED["relative"])
    changing = arena.project / "changing"
    changing.write_text("x")
    answers = [decided(arena, "Write", "changing", rules)]
    for target in ("kept.txt", "../outside/new", "a"):
        changing.unlink()
        changing.symlink_to(target)
        answers.append(decided(arena, "Write", "changing", rules))
    changing.unlink()
    assert answers == ["allow", "deny", "deny", "deny"]


def test_accents_in_two_forms_are_one_name_for_rules_that_refuse(arena):
    rules = policy(arena, "bypassPermissions", ["Read(caf\u00e9/**)"])
    for folder in ("caf\u00e9", "cafe\u0301", "CAF\u00c9"):
        assert decided(arena, "Read", f"{folder}/x", rules) == "deny"
