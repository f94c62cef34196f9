import os
import re

import pytest

from claude_wrapper.agent.tools import ripgrep
from claude_wrapper.agent.tools.ripgrep import find_ripgrep

pytestmark = pytest.mark.anyio


@pytest.fixture
def tree(project):
    """Some files, each changed one second after the one before it."""
    contents = {
        ".dot.py": "alpha\n",
        "a.py": "import os\nalpha = 1\nbeta = 2\nAlpha\n",
        "src/deep/c.txt": "gamma\nalpha\n",
        "src/b.py": "alpha\nx\ny\nalpha beta\nz\n",
        ".hidden/h.py": "alpha\n",
        "ignored/i.py": "alpha\n",
        ".gitignore": "ignored/\n",
        "bin.dat": "alpha\0beta",
        "sp ace.py": "alpha\n",
        "col:on.txt": "alpha\n",
        ".git/config": "alpha\n",
        "crlf.txt": "alpha\r\nb\r\n",
        "long.txt": "alpha" + "x" * 2000 + "\n",
        "b[1].py": "zeta\n",
    }
    for second, (name, content) in enumerate(contents.items()):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, newline="")
        os.utime(path, (1000 + second, 1000 + second))
    (project / "lsrc").symlink_to("src")
    return project


@pytest.mark.usefixtures("tree")
@pytest.mark.feature("TOOL-10", "TOOL-16")
async def test_files_are_found_by_name_oldest_first_hidden_and_ignored_ones_too(session):
    output = await session.call("Glob", pattern="**/*.py")
    names = [".dot.py", "a.py", "src/b.py", ".hidden/h.py", "ignored/i.py", "sp ace.py", "b[1].py"]
    assert output.content == "\n".join(names)
    assert output.is_error is None
    duration = output.structured.pop("durationMs")
    assert isinstance(duration, int)
    assert output.structured == {
        "filenames": names,
        "numFiles": 7,
        "truncated": False,
        "totalMatches": 7,
        "countIsComplete": True,
    }


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("tool_input", "names"),
    [
        ({"pattern": "src/**"}, ["src/deep/c.txt", "src/b.py"]),
        ({"pattern": "*.py", "path": "src"}, ["src/b.py"]),
        ({"pattern": "{a,src/b}.py"}, ["a.py", "src/b.py"]),
        ({"pattern": "**/[ab].py"}, ["a.py", "src/b.py"]),
        ({"pattern": "*.PY"}, []),
        ({"pattern": "../*"}, []),
        ({"pattern": "lsrc/*"}, []),
        ({"pattern": "src"}, []),
        ({"pattern": "c.txt", "path": ""}, ["src/deep/c.txt"]),
    ],
)
async def test_patterns_mean_what_ripgrep_takes_them_for(session, tool_input, names):
    output = await session.call_with("Glob", tool_input)
    assert output.structured["filenames"] == names
    assert output.content == ("\n".join(names) or "No files found")


async def test_an_absolute_pattern_names_its_own_folder(session, context, tree):
    pattern = f"{tree}/src/*.py"
    assert (await session.call("Glob", pattern=pattern)).structured["filenames"] == ["src/b.py"]
    asked = session.tools["Glob"].for_permission({"pattern": pattern}, context)
    assert asked == {"pattern": pattern, "path": f"{tree}/src"}
    assert session.tools["Glob"].for_permission({"pattern": "*"}, context)["path"] == str(tree)


async def test_files_elsewhere_are_shown_in_full(session, tree, context):
    context.cwd = tree / "src"
    output = await session.call("Glob", pattern="a.py", path=str(tree))
    assert output.content == str(tree / "a.py")


@pytest.mark.usefixtures("tree")
@pytest.mark.feature("TOOL-10")
async def test_the_user_may_want_ignored_and_hidden_files_left_out(session, context):
    context.environment |= {"CLAUDE_CODE_GLOB_NO_IGNORE": "false", "CLAUDE_CODE_GLOB_HIDDEN": "false"}
    output = await session.call("Glob", pattern="*.py")
    assert output.structured["filenames"] == ["a.py", "src/b.py", "sp ace.py", "b[1].py"]


@pytest.mark.feature("TOOL-10")
async def test_of_many_files_a_hundred_are_listed_and_the_others_counted(session, project):
    for number in range(130):
        (project / f"f{number:03}").touch()
    output = await session.call("Glob", pattern="*")
    assert len(output.structured["filenames"]) == output.structured["numFiles"] == 100
    assert (output.structured["truncated"], output.structured["totalMatches"]) == (True, 130)
    assert output.content.splitlines()[-1].startswith("(100 of 130 files;")


async def test_a_folder_that_is_none_is_a_failure(session, tree):
    text = await session.failure("Glob", pattern="*", path="nosuch")
    assert text == f"Directory does not exist: nosuch. Note: your current working directory is {tree}."
    assert await session.failure("Glob", pattern="*", path="a.py") == "Path is not a directory: a.py"


@pytest.mark.usefixtures("tree")
@pytest.mark.feature("TOOL-11", "TOOL-16")
async def test_matching_files_are_listed_last_changed_first(session):
    names = [
        "long.txt",
        "crlf.txt",
        "col:on.txt",
        "sp ace.py",
        ".hidden/h.py",
        "src/b.py",
        "src/deep/c.txt",
        "a.py",
        ".dot.py",
    ]
    output = await session.call("Grep", pattern="alpha")
    assert output.content == "\n".join(["Found 9 files", *names])
    assert output.structured == {
        "mode": "files_with_matches",
        "filenames": names,
        "numFiles": 9,
        "totalFiles": 9,
    }
    assert (await session.call("Grep", pattern="import")).content == "Found 1 file\na.py"
    assert (await session.call("Grep", pattern="zzz")).content == "No files found"


@pytest.mark.usefixtures("tree")
@pytest.mark.feature("TOOL-11")
async def test_content_shows_file_line_and_text(session):
    output = await session.call("Grep", pattern="alpha", output_mode="content", glob="*.{py,txt}")
    assert output.content == (
        ".dot.py:1:alpha\n.hidden/h.py:1:alpha\na.py:2:alpha = 1\ncol:on.txt:1:alpha\ncrlf.txt:1:alpha\n"
        "long.txt:1:[Omitted long matching line]\nsp ace.py:1:alpha\nsrc/b.py:1:alpha\nsrc/b.py:4:alpha beta\n"
        "src/deep/c.txt:2:alpha"
    )
    assert output.structured == {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": output.content,
        "numLines": 10,
        "totalLines": 10,
    }
    assert (await session.call("Grep", pattern="zzz", output_mode="content")).content == "No matches found"


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("options", "content"),
    [
        ({"path": "src/b.py"}, "1:alpha\n4:alpha beta"),
        ({"path": "src/b.py", "-n": False}, "alpha\nalpha beta"),
        ({"path": "src/b.py", "-A": 1, "-B": 1}, "1:alpha\n2-x\n3-y\n4:alpha beta\n5-z"),
        ({"path": "src/b.py", "-C": 1}, "1:alpha\n2-x\n3-y\n4:alpha beta\n5-z"),
        ({"path": "src/b.py", "context": 1}, "1:alpha\n2-x\n3-y\n4:alpha beta\n5-z"),
        (
            {"path": "src", "-B": 1},
            "src/b.py:1:alpha\n--\nsrc/b.py-3-y\nsrc/b.py:4:alpha beta\n--\nsrc/deep/c.txt-1-gamma\nsrc/deep/c.txt:2:alpha",
        ),
        ({"path": "a.py", "-o": True}, "2:alpha"),
        ({"path": "a.py", "-i": True}, "2:alpha = 1\n4:Alpha"),
        ({"pattern": "alpha\\nx", "multiline": True}, "src/b.py:1:alpha\nsrc/b.py:2:x"),
        ({"pattern": "alpha.x", "multiline": True, "path": "src"}, "src/b.py:1:alpha\nsrc/b.py:2:x"),
        ({"pattern": "-alpha"}, "No matches found"),
        ({"path": "src", "type": "py"}, "src/b.py:1:alpha\nsrc/b.py:4:alpha beta"),
        ({"path": "src", "glob": "!*.py"}, "src/deep/c.txt:2:alpha"),
        ({"path": "src", "glob": "*.md, *.txt"}, "src/deep/c.txt:2:alpha"),
    ],
)
@pytest.mark.feature("TOOL-11")
async def test_options_are_those_of_grep(session, options, content):
    output = await session.call_with("Grep", {"pattern": "alpha", "output_mode": "content", **options})
    assert output.content == content


@pytest.mark.usefixtures("tree")
@pytest.mark.feature("TOOL-11")
async def test_count_shows_numbers_and_their_sum(session):
    output = await session.call("Grep", pattern="alpha", output_mode="count", path="src")
    assert output.content == "src/b.py:2\nsrc/deep/c.txt:1\n\nFound 3 total occurrences across 2 files."
    assert output.structured == {
        "mode": "count",
        "numFiles": 2,
        "filenames": [],
        "content": "src/b.py:2\nsrc/deep/c.txt:1",
        "numMatches": 3,
    }
    output = await session.call("Grep", pattern="gamma", output_mode="count")
    assert output.content.endswith("Found 1 total occurrence across 1 file.")
    output = await session.call("Grep", pattern="zzz", output_mode="count")
    assert output.content == "No matches found\n\nFound 0 total occurrences across 0 files."


@pytest.mark.usefixtures("tree")
@pytest.mark.feature("TOOL-11")
async def test_results_come_in_pages(session):
    async def search(**options):
        return await session.call_with("Grep", {"pattern": "alpha", **options})

    output = await search(head_limit=2, offset=1)
    assert output.content == "Found 2 files limit: 2, offset: 1\ncrlf.txt\ncol:on.txt"
    assert (output.structured["appliedLimit"], output.structured["appliedOffset"]) == (2, 1)
    assert (output.structured["numFiles"], output.structured["totalFiles"]) == (2, 9)
    output = await search(output_mode="content", head_limit=2)
    assert output.content.endswith("\n\n[Showing results with pagination = limit: 2]")
    assert (output.structured["numLines"], output.structured["totalLines"]) == (2, 10)
    output = await search(output_mode="count", head_limit=1)
    assert (
        output.content == ".dot.py:1\n\nFound 10 total occurrences across 9 files. with pagination = limit: 1"
    )
    assert "appliedLimit" not in (await search(head_limit=9)).structured
    assert len((await search(head_limit=0)).structured["filenames"]) == 9


@pytest.mark.usefixtures("tree")
@pytest.mark.feature("TOOL-11")
async def test_a_page_behind_the_end_says_so(session):
    async def search(mode):
        return (await session.call("Grep", pattern="alpha", offset=100, output_mode=mode)).content

    note = "[Showing results with pagination = offset: 100]"
    assert await search("files_with_matches") == f"No entries at this offset. {note}"
    assert await search("content") == f"No entries at this offset\n\n{note}"
    assert (await search("count")).startswith("No entries at this offset\n\nFound 10 total")


async def test_of_many_lines_250_are_shown(session, project):
    (project / "many").write_text("x\n" * 300)
    output = await session.call("Grep", pattern="x", output_mode="content")
    assert (output.structured["numLines"], output.structured["appliedLimit"]) == (250, 250)


@pytest.mark.feature("TOOL-11")
async def test_outside_a_repository_nothing_is_ignored(session, project):
    (project / ".gitignore").write_text("a\n")
    (project / "a").write_text("x\n")
    assert (await session.call("Grep", pattern="x")).content == "Found 1 file\na"
    (project / ".git").mkdir()
    assert (await session.call("Grep", pattern="x")).content == "No files found"


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"pattern": "["}, "unclosed character class"),
        ({"type": "nosuch"}, "nosuch"),
        ({"pattern": "a\\nb"}, "multiline"),
    ],
)
@pytest.mark.feature("TOOL-11")
async def test_what_ripgrep_refuses_is_a_failure_with_its_reason(session, options, part):
    text = await session.failure("Grep", **{"pattern": "x", **options})
    assert part in text


async def test_a_path_that_is_not_there_is_a_failure(session, tree):
    text = await session.failure("Grep", pattern="x", path="nosuch")
    assert text == f"Path does not exist: nosuch. Note: your current working directory is {tree}."


@pytest.mark.usefixtures("tree")
async def test_negative_numbers_are_rejected(session):
    assert (
        await session.rejection("Grep", pattern="x", head_limit=-1) == "head_limit must be 0 or more, not -1."
    )


async def test_a_file_that_cannot_be_read_spoils_no_search(session, project):
    (project / "a").write_text("x\n")
    (project / "dangling").symlink_to("nowhere")
    (project / "secret").write_text("x\n")
    (project / "secret").chmod(0)
    output = await session.call("Grep", pattern="x", path=".")
    assert "a" in output.structured["filenames"]
    assert (await session.call("Grep", pattern="zzz", path="dangling")).content == "No files found"


async def test_names_in_odd_encodings_are_shown_as_well_as_they_can_be(session, project):
    (project / os.fsdecode(b"gr\xfcn")).write_text("x\n")
    assert (await session.call("Glob", pattern="*")).content == "gr\ufffdn"
    assert (await session.call("Grep", pattern="x")).content == "Found 1 file\ngr\ufffdn"


async def test_a_search_with_endless_results_is_cut(session, project, monkeypatch):
    (project / "many").write_text("some words on a line\n" * 10_000)
    monkeypatch.setattr(ripgrep, "_MOST_BYTES", 50_000)
    output = await session.call("Grep", pattern="words", output_mode="content", head_limit=0)
    lines = output.content.splitlines()
    assert 1000 < len(lines) < 10_000
    assert all(re.fullmatch(r"many:\d+:some words on a line", line) for line in lines)
    for number in range(500):
        (project / f"file-with-a-long-name-{number:0100}").touch()
    output = await session.call("Glob", pattern="*")
    assert output.structured["countIsComplete"] is False
    assert "at least" in output.content


async def test_a_search_that_takes_too_long_is_ended(session, context, tmp_path, monkeypatch):
    monkeypatch.setattr(ripgrep, "_SECONDS", 0.2)
    monkeypatch.setattr(ripgrep.sys, "executable", str(tmp_path / "nowhere/python"))
    monkeypatch.setattr(ripgrep.sys, "prefix", str(tmp_path / "nowhere"))
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "rg").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 100\n")
    (slow / "rg").chmod(0o755)
    context.environment["PATH"] = f"{slow}:{context.environment['PATH']}"
    assert "took more than" in await session.failure("Grep", pattern="x")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_without_ripgrep_a_search_fails_and_names_the_way_out(session, context, tmp_path, monkeypatch):
    monkeypatch.setattr(ripgrep.sys, "executable", str(tmp_path / "nowhere/python"))
    monkeypatch.setattr(ripgrep.sys, "prefix", str(tmp_path / "nowhere"))
    context.environment["PATH"] = str(tmp_path)
    assert "through Bash" in await session.failure("Grep", pattern="x")
    assert "through Bash" in await session.failure("Glob", pattern="x")


def test_the_ripgrep_that_came_with_us_goes_before_the_users(tmp_path):
    (tmp_path / "rg").write_text("#!/bin/sh\n")
    (tmp_path / "rg").chmod(0o755)
    found = find_ripgrep({"PATH": str(tmp_path)})
    assert found is not None
    assert found != str(tmp_path / "rg")


async def test_the_users_ripgrep_settings_do_not_change_a_search(session, context, project):
    (project / "a.md").write_text("x\n")
    (project / "rc").write_text("--glob=!*.md\n")
    context.environment["RIPGREP_CONFIG_PATH"] = str(project / "rc")
    assert (await session.call("Grep", pattern="x", glob="*.md")).content == "Found 1 file\na.md"


async def test_searching_may_run_beside_other_calls(session):
    assert session.tools["Glob"].is_read_only({"pattern": "x"})
    assert session.tools["Grep"].is_read_only({"pattern": "x"})
