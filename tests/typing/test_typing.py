"""A program that a type checker accepts with the official package is accepted with this one, word for word."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("program.py")
PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")


def checked(program, folder, *arguments):
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--cache-dir", folder, *arguments]
    done = subprocess.run([*command, program], capture_output=True, text=True, timeout=170, check=False)
    return done.stdout + done.stderr


@pytest.mark.timeout(180)
@pytest.mark.feature("WRAP-01")
def test_a_program_with_types_has_no_fault(tmp_path):
    assert "Success: no issues found" in checked(PROGRAM, tmp_path / "cache", "--python-version", "3.10")


@pytest.mark.timeout(180)
def test_a_wrong_program_has_one(tmp_path):
    wrong = PROGRAM.read_text(encoding="utf-8").replace(
        'permission_mode="acceptEdits"', 'permission_mode="all"'
    )
    (tmp_path / "wrong.py").write_text(wrong, encoding="utf-8")

    said = checked(tmp_path / "wrong.py", tmp_path / "cache")

    assert 'Argument "permission_mode" to "ClaudeAgentOptions" has incompatible type' in said
    assert "Found 1 error" in said


@pytest.mark.peers
@pytest.mark.timeout(180)
@pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers")
def test_it_is_a_program_for_the_official_package(tmp_path):
    theirs = PROGRAM.read_text(encoding="utf-8").replace("claude_wrapper", "claude_agent_sdk")
    (tmp_path / "theirs.py").write_text(theirs, encoding="utf-8")
    python = Path(PEERS, "pyenv", "bin", "python")

    said = checked(tmp_path / "theirs.py", tmp_path / "cache", "--python-executable", python)

    assert "Success: no issues found" in said
