"""An MCP server as a small program, for those who start servers."""

import os
import sys

import pytest

from claude_wrapper.agent.__main__ import main

PROGRAM = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"content": [{"type": "text", "text": os.environ.get("GREETING", "none")}]}
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "small", "version": "1"}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": "greet", "description": "greets", "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture
def small_server(tmp_path):
    """The command of a server that works."""
    path = tmp_path / "server.py"
    path.write_text(PROGRAM)
    return [sys.executable, str(path)]


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
