"""Subcommands, run in this process."""

import os

import pytest

from claude_wrapper.agent.__main__ import main


@pytest.fixture
def command(workspace, monkeypatch, capsys):
    """Run a subcommand in this process, in the workspace: exit code, stdout, stderr."""
    monkeypatch.chdir(workspace.project)

    def run(*argv, env=None):
        wanted = workspace.environment(**(env or {}))
        for name in set(os.environ) - wanted.keys() - {"PYTEST_CURRENT_TEST"}:
            monkeypatch.delenv(name)
        for name, value in wanted.items():
            monkeypatch.setenv(name, value)
        code = main(list(argv))
        return code, *capsys.readouterr()

    return run
