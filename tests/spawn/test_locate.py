"""Where the agent executable is looked for."""

import os
import subprocess
import sys

import pytest

from claude_wrapper.errors import AgentStartError, CLINotFoundError
from claude_wrapper.spawn.locate import AGENT_VARIABLE, bundled_path, locate_agent


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "my-agent"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_path_counts_first(program):
    found = locate_agent(program, {AGENT_VARIABLE: "/bin/sh"})
    assert found.argv == [str(program)]
    assert found.source == "cli_path"
    assert locate_agent(str(program), {}).argv == [str(program)]


def test_a_relative_path_does_not_depend_on_where_the_agent_works(program, monkeypatch):
    monkeypatch.chdir(program.parent)
    assert locate_agent("./my-agent", {}).argv == [str(program)]


def test_a_bare_name_is_looked_up_on_path(program, tmp_path):
    path = os.pathsep.join([str(tmp_path / "nowhere"), str(program.parent)])
    assert locate_agent("my-agent", {"PATH": path}).argv == [str(program)]


def test_the_variable_counts_next(program):
    found = locate_agent(None, {AGENT_VARIABLE: str(program)})
    assert found.argv == [str(program)]
    assert found.source == AGENT_VARIABLE
    by_name = locate_agent(None, {AGENT_VARIABLE: "my-agent", "PATH": str(program.parent)})
    assert by_name.argv == [str(program)]


def test_the_bundled_executable_or_else_the_python_code_is_the_default():
    found = locate_agent(None, {})
    if bundled_path().is_file():
        assert found.argv == [str(bundled_path())]
    else:
        assert found.argv[0] == sys.executable
        assert "claude_wrapper.agent" in found.argv[-1]


@pytest.mark.feature("WRAP-07")
def test_what_was_named_and_is_not_there_is_named_in_the_error(tmp_path):
    missing = tmp_path / "nowhere" / "agent"
    with pytest.raises(CLINotFoundError, match="named by the option cli_path: no such file") as caught:
        locate_agent(missing, {})
    assert caught.value.cli_path == str(missing)
    with pytest.raises(CLINotFoundError, match="nor a program on PATH"):
        locate_agent("no-such-agent", {"PATH": "/usr/bin"})
    with pytest.raises(CLINotFoundError, match=AGENT_VARIABLE):
        locate_agent(None, {AGENT_VARIABLE: str(missing)})


def test_every_place_is_named_when_there_is_no_agent_at_all(tmp_path):
    """In an interpreter that has the library but not the agent's dependencies."""
    program = """
import sys
sys.path[:] = [path for path in sys.path if "site-packages" not in path]
sys.path.insert(0, sys.argv[1])
sys.path.insert(1, sys.argv[2])
from claude_wrapper.errors import CLINotFoundError
from claude_wrapper.spawn.locate import locate_agent
try:
    locate_agent(None, {})
except CLINotFoundError as error:
    print(error)
"""
    package = tmp_path / "claude_wrapper"
    package.symlink_to(bundled_path().parent.parent, target_is_directory=True)
    if bundled_path().is_file():
        pytest.skip("this installation bundles an agent")
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, str(tmp_path), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    for place in ("cli_path", AGENT_VARIABLE, "_bundled", "httpx2", "claude-wrapper[agent]"):
        assert place in done.stdout


def test_a_folder_a_plain_file_and_a_batch_file_are_refused(tmp_path):
    with pytest.raises(AgentStartError, match="is a folder"):
        locate_agent(tmp_path, {})
    plain = tmp_path / "plain"
    plain.write_text("text")
    with pytest.raises(AgentStartError, match=r"not executable.*chmod \+x"):
        locate_agent(plain, {})
    batch = tmp_path / "agent.CMD"
    batch.write_text("@echo off")
    batch.chmod(0o755)
    with pytest.raises(AgentStartError, match="batch file"):
        locate_agent(batch, {})


def test_the_agent_does_not_import_modules_of_the_folder_it_works_in(tmp_path):
    found = locate_agent(None, {})
    if found.source != "python":
        pytest.skip("this installation bundles an agent")
    marker = tmp_path / "imported"
    for name in ("json", "msgspec", "anyio", "runpy"):
        (tmp_path / f"{name}.py").write_text(f"open({str(marker)!r}, 'w').close()")
    subprocess.run(
        [*found.argv, "--version"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=30,
        stdin=subprocess.DEVNULL,
    )
    assert not marker.exists()
