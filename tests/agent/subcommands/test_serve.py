"""`mcp serve`: an MCP client that uses the agent's own tools."""

import json
import subprocess
import sys

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

AGENT = [sys.executable, "-m", "claude_wrapper.agent", "mcp", "serve"]


def exchange(workspace, *messages):
    """Send lines, end stdin, and return the replies and the exit code."""
    lines = [each if isinstance(each, str) else json.dumps({"jsonrpc": "2.0", **each}) for each in messages]
    done = subprocess.run(
        AGENT,
        input="\n".join(lines).encode(),
        capture_output=True,
        cwd=workspace.project,
        env=workspace.environment(),
        timeout=20,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def call(number, name, **arguments):
    return {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def text(reply):
    return reply["result"]["content"][0]["text"]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.feature("CLI-15")
async def test_a_client_of_the_mcp_package_lists_and_calls_tools(workspace):
    server = StdioServerParameters(
        command=AGENT[0], args=AGENT[1:], cwd=workspace.project, env=workspace.environment()
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        written = await session.call_tool(
            "Write", {"file_path": str(workspace.project / "a.txt"), "content": "x"}
        )
        shell = await session.call_tool("Bash", {"command": "cat a.txt; exit 3"})

    assert {"Bash", "Edit", "Read", "Write"} <= set(names)
    assert not written.model_dump(by_alias=True)["isError"]
    assert (workspace.project / "a.txt").read_text() == "x"
    assert shell.model_dump(by_alias=True)["isError"]
    assert shell.content[0].text.startswith("Exit code 3")


@pytest.mark.feature("CLI-15", "PERM-01")
def test_rules_hold_though_nobody_is_asked(workspace):
    (workspace.project / "a.txt").write_text("secret")
    (workspace.home / ".claude").mkdir()
    rules = {"deny": ["Bash(touch *)", "Read(./a.txt)", "NotebookEdit"], "ask": ["Bash(false)"]}
    (workspace.home / ".claude" / "settings.json").write_text(json.dumps({"permissions": rules}))

    replies, code = exchange(
        workspace,
        {"id": 1, "method": "tools/list"},
        call(2, "Bash", command="touch b.txt"),
        call(3, "Read", file_path=str(workspace.project / "a.txt")),
        call(4, "Bash", command="false"),
        call(5, "Bash", command="echo free"),
    )

    found = {reply["id"]: reply for reply in replies}
    assert code == 0
    assert "NotebookEdit" not in [tool["name"] for tool in found[1]["result"]["tools"]]
    assert [found[number]["result"].get("isError") for number in (2, 3, 4, 5)] == [True, True, True, None]
    assert "secret" not in text(found[3])
    assert json.loads(text(found[5]))["stdout"] == "free"
    assert not (workspace.project / "b.txt").exists()


@pytest.mark.feature("CLI-15")
def test_bad_messages_are_answered_and_the_server_lives_on(workspace):
    replies, code = exchange(
        workspace,
        "no json",
        "[]",
        "3",
        {"id": 1, "method": "frob"},
        {"id": 2, "method": "tools/call", "params": {}},
        call(3, "Nope"),
        call(4, "Read"),
        {"id": 5, "method": "tools/call", "params": {"name": "Read", "arguments": [1]}},
        {"method": "notifications/cancelled", "params": {"requestId": [1]}},
        {"id": {"a": 1}, "method": "ping"},
        {"id": 6, "method": "initialize", "params": {"protocolVersion": "1999-01-01"}},
        {"id": "last", "method": "ping"},
    )

    by_id = {json.dumps(reply["id"]): reply for reply in replies if reply["id"] is not None}
    codes = [reply["error"]["code"] for reply in replies if reply["id"] is None]
    assert (code, codes) == (0, [-32700, -32600])
    assert [by_id[number]["error"]["code"] for number in ("1", "2", "3")] == [-32601, -32602, -32603]
    assert by_id["4"]["result"]["isError"] is by_id["5"]["result"]["isError"] is True
    assert by_id["6"]["result"]["protocolVersion"] == "2025-11-25"
    assert by_id['"last"']["result"] == {}


@pytest.mark.feature("CLI-15")
def test_a_call_that_is_cancelled_ends(workspace):
    replies, code = exchange(
        workspace,
        call(1, "Bash", command="sleep 60"),
        {"method": "notifications/cancelled", "params": {"requestId": 1}},
        {"id": 2, "method": "ping"},
    )

    assert (code, [reply["id"] for reply in replies]) == (0, [2])


@pytest.mark.feature("CLI-15")
def test_it_takes_no_other_options(workspace):
    code, _, err = workspace.run(None, "mcp", "serve", "--nope")

    assert (code, "unknown option '--nope'" in err) == (1, True)
