"""Which files with instructions a run reads, in which order, and what it leaves alone."""

import os
from pathlib import Path

import pytest

from claude_wrapper.agent.context.memory import Memory
from claude_wrapper.agent.context.memory_files import MemoryFile, MemoryFiles, MemoryPlaces

ALL = frozenset({"userSettings", "projectSettings", "localSettings"})


def places(root: Path, sources: frozenset[str] = ALL, *excluded: str, cwd: str = "project") -> MemoryPlaces:
    return MemoryPlaces(
        cwd=root / cwd,
        home=root / "home",
        config=root / "home/.claude",
        managed=root / "managed",
        sources=sources,
        excluded=excluded,
        notes=root / "notes/MEMORY.md",
    )


def write_at(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def texts(files: list[MemoryFile]) -> list[str]:
    return [file.text for file in files]


@pytest.mark.feature("MEM-01")
def test_the_most_general_instructions_come_first(tmp_path: Path) -> None:
    write_at(tmp_path / "managed/CLAUDE.md", "managed")
    write_at(tmp_path / "home/.claude/CLAUDE.md", "user")
    write_at(tmp_path / "home/.claude/rules/own.md", "user rule")
    write_at(tmp_path / "project/CLAUDE.md", "above")
    write_at(tmp_path / "project/CLAUDE.local.md", "above local")
    write_at(tmp_path / "project/app/CLAUDE.md", "project\n@more.md")
    write_at(tmp_path / "project/app/more.md", "more")
    write_at(tmp_path / "project/app/.claude/CLAUDE.md", "folder")
    write_at(tmp_path / "project/app/.claude/rules/a.md", "rule")
    write_at(tmp_path / "project/app/CLAUDE.local.md", "local")
    write_at(tmp_path / "notes/MEMORY.md", "notes")
    found = MemoryFiles(places(tmp_path, cwd="project/app")).at_start()
    assert texts(found) == [
        *("managed", "user", "user rule", "above", "above local"),
        *("project\n@more.md", "more", "folder", "rule", "local", "notes"),
    ]
    assert [file.kind for file in found[:2]] == ["Managed", "User"]
    assert (found[6].reason, found[6].parent) == ("include", tmp_path / "project/app/CLAUDE.md")


@pytest.mark.feature("MEM-03")
def test_imports_go_four_hops_and_stay_out_of_code_and_circles(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write_at(
        project / "CLAUDE.md", "start `@span.md`\n```\n@fence.md\n```\n@hop1.md @CLAUDE.md\n- **@bold.md**"
    )
    for number in range(1, 6):
        write_at(project / f"hop{number}.md", f"hop {number}\n@hop{number + 1}.md")
    for name in ("span", "fence", "bold"):
        write_at(project / f"{name}.md", name)
    found = texts(MemoryFiles(places(tmp_path)).at_start())
    assert [text.split("\n")[0] for text in found[1:]] == ["hop 1", "hop 2", "hop 3", "hop 4", "bold"]


@pytest.mark.feature("MEM-03")
def test_a_project_brings_in_nothing_from_outside_but_the_user_may(tmp_path: Path) -> None:
    outside = write_at(tmp_path / "home/secret.md", "secret")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/link.md").symlink_to(outside)
    (tmp_path / "project/CLAUDE.local.md").symlink_to(outside)
    write_at(tmp_path / "project/CLAUDE.md", f"@{outside} @~/secret.md @../home/secret.md @link.md")
    files = MemoryFiles(places(tmp_path, frozenset({"projectSettings", "localSettings"})))
    assert [file.path.name for file in files.at_start()] == ["CLAUDE.md"]
    write_at(tmp_path / "home/.claude/CLAUDE.md", "@~/secret.md")
    assert "secret" in texts(MemoryFiles(places(tmp_path)).at_start())


@pytest.mark.feature("MEM-04")
def test_comments_of_their_own_lines_are_left_out(tmp_path: Path) -> None:
    text = "one\n<!-- gone\ngone --> tail\n<!-- gone -->\nin <!-- kept --> line\n```\n<!-- kept -->\n```"
    write_at(tmp_path / "project/CLAUDE.md", text)
    found = texts(MemoryFiles(places(tmp_path)).at_start())
    assert found == ["one\n tail\nin <!-- kept --> line\n```\n<!-- kept -->\n```"]


@pytest.mark.feature("MEM-04")
def test_files_that_are_no_readable_text_are_passed_over(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "CLAUDE.md").mkdir(parents=True)
    rules = project / ".claude/rules"
    write_at(rules / "big.md", "x" * (4 * 1024 * 1024 + 1))
    write_at(rules / "binary.md", "a\0b")
    write_at(rules / "empty.md", "")
    (rules / "loop.md").symlink_to("loop.md")
    (rules / "folder.md").mkdir()
    os.mkfifo(rules / "pipe.md")
    (rules / "good.md").write_bytes(b"\xef\xbb\xbf---\r\nname: x\r\n---\r\none\r\ntwo \xff")
    write_at(rules / "head.md", "---\npaths: [\n---\nbroken head")
    found = texts(MemoryFiles(places(tmp_path)).at_start())
    assert found == ["one\ntwo \ufffd", "broken head"]


@pytest.mark.feature("MEM-05")
def test_a_folder_below_speaks_once_a_file_in_it_is_read(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write_at(project / "sub/CLAUDE.md", "sub\n@leaf.md")
    write_at(project / "sub/leaf.md", "leaf")
    write_at(project / "sub/CLAUDE.local.md", "sub local")
    write_at(project / "sub/inner/CLAUDE.md", "inner")
    write_at(project / "other/CLAUDE.md", "other")
    read = write_at(project / "sub/inner/file.txt", "text")
    files = MemoryFiles(places(tmp_path))
    assert files.at_start() == []
    found = files.on_read(read)
    assert texts(found) == ["sub\n@leaf.md", "leaf", "sub local", "inner"]
    assert {file.trigger for file in found} == {read}
    assert [file.reason for file in found[:2]] == ["nested_traversal", "include"]
    assert files.on_read(read) == []
    assert files.on_read(write_at(tmp_path / "away/file.txt", "")) == []


@pytest.mark.feature("MEM-06")
def test_rules_with_paths_wait_for_a_file_that_they_are_for(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write_at(project / ".claude/rules/py.md", '---\npaths: "*.{py,pyi}"\n---\npython')
    write_at(project / ".claude/rules/ts.md", "---\npaths:\n  - src/**/*.ts\n---\ntypes")
    write_at(project / ".claude/rules/all.md", '---\npaths: "**"\n---\nall')
    files = MemoryFiles(places(tmp_path))
    assert texts(files.at_start()) == ["all"]
    assert files.on_read(write_at(project / "a.ts", "")) == []
    (found,) = files.on_read(write_at(project / "src/a.ts", ""))
    assert (found.text, found.reason, found.globs) == ("types", "path_glob_match", ("src/**/*.ts",))
    (found,) = files.on_read(write_at(project / "deep/a.pyi", ""))
    assert found.globs == ("*.py", "*.pyi")
    assert files.on_read(write_at(project / "deep/b.py", "")) == []


@pytest.mark.feature("MEM-07")
def test_excluded_files_do_not_count_but_the_administrators_do(tmp_path: Path) -> None:
    write_at(tmp_path / "managed/CLAUDE.md", "managed")
    write_at(tmp_path / "project/CLAUDE.md", "above")
    write_at(tmp_path / "project/app/CLAUDE.md", "project")
    given = places(tmp_path, ALL, "**/{managed,project}/CLAUDE.md", cwd="project/app")
    assert texts(MemoryFiles(given).at_start()) == ["managed", "project"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [("userSettings", "user"), ("projectSettings", "project"), ("localSettings", "local")],
)
def test_only_the_chosen_sources_count(tmp_path: Path, source: str, expected: str) -> None:
    write_at(tmp_path / "home/.claude/CLAUDE.md", "user")
    write_at(tmp_path / "project/CLAUDE.md", "project")
    write_at(tmp_path / "project/CLAUDE.local.md", "local")
    assert texts(MemoryFiles(places(tmp_path, frozenset({source}))).at_start()) == [expected]


@pytest.mark.feature("MEM-09")
def test_of_the_models_own_notes_only_the_beginning_counts(tmp_path: Path) -> None:
    write_at(tmp_path / "notes/MEMORY.md", "line\n" * 500)
    (found,) = MemoryFiles(places(tmp_path)).at_start()
    assert found.text.count("line") == 200


def test_without_places_nothing_is_read_and_nothing_said() -> None:
    memory = Memory(lambda: None)
    assert memory.begin() == []
    assert memory.foreword is None
    assert memory.on_read([Path("/etc/hosts")]) == []
