"""MCP servers that the command line brings and the agent itself starts."""

import json
import subprocess
import sys

import pytest

from claude_wrapper.testing import ScriptedModel, call, say


def run(workspace, script, servers, *argv):
    with ScriptedModel(script) as model:
        code, out, err = workspace.run(
            model,
            "-p",
            "--output-format=stream-json",
            "--verbose",
            *argv,
            f"--mcp-config={json.dumps({'mcpServers': servers})}",
            "--",
            "go",
        )
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()], model


@pytest.mark.feature("MCP-01", "MCP-02")
def test_tools_of_a_program_are_offered_and_called(workspace, small_server):
    program, *arguments = small_server
    server = {"command": program, "args": arguments, "env": {"GREETING": "hello there"}}
    script = [call("mcp__small__greet"), say("done")]

    frames, model = run(workspace, script, {"small": server}, "--allowedTools=mcp__small__greet")

    assert frames[0]["mcp_servers"] == [{"name": "small", "status": "connected", "source": "dynamic"}]
    assert "mcp__small__greet" in frames[0]["tools"]
    assert "hello there" in json.dumps(model.requests[1].messages[-1])


@pytest.mark.feature("MCP-05")
def test_a_server_that_does_not_come_up_is_told_and_the_run_goes_on(workspace):
    servers = {
        "gone": {"command": "no-such-program"},
        "dumb": {"command": "true"},
        "far": {"type": "http", "url": "u"},
    }

    frames, _ = run(workspace, [say("hi")], servers)

    assert {each["name"]: each["status"] for each in frames[0]["mcp_servers"]} == dict.fromkeys(
        servers, "failed"
    )


@pytest.mark.feature("MCP-04")
def test_a_wrong_entry_is_skipped_and_told(workspace):
    servers = {"a": {}, "b": {"command": 3}, "c": {"type": "frob"}, "d": {"type": "http"}, "e": 5}

    frames, _ = run(workspace, [say("hi")], servers)

    assert frames[0]["mcp_servers"] == []
    assert [(each["name"], each["type"]) for each in frames[0]["mcp_server_errors"]] == [
        ("a", "invalid_config"),
        ("b", "invalid_config"),
        ("c", "unknown_type"),
        ("d", "invalid_config"),
        ("e", "invalid_config"),
    ]


LOOKING = """
import os, sys
leave = os._exit
def look(code):
    print(*(name for name in sys.modules if ".agent.mcp" in name or "httpx2" in name), file=sys.stderr, flush=True)
    leave(code)
os._exit = look
from claude_wrapper.agent.__main__ import run_and_exit
run_and_exit()
"""


def test_a_session_without_servers_loads_nothing_to_speak_to_them(workspace):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            LOOKING,
            "-p",
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json",
        ],
        input=b'{"type": "control_request", "request_id": "r", "request": {"subtype": "initialize"}}\n',
        capture_output=True,
        cwd=workspace.project,
        env=workspace.environment(),
        timeout=60,
        check=False,
    )

    assert b"control_response" in done.stdout
    loaded = {name.rpartition(".")[2] for name in done.stderr.decode().split()}
    assert loaded <= {"mcp", "channel", "names", "server_shape"}
