"""The official SDKs with the installed executable as their agent."""

import json
import os
import subprocess
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

from claude_wrapper.testing import call, say

pytestmark = pytest.mark.peers

RUNNING = 90

PYTHON = """
    import asyncio, sys
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

    @tool("add", "Add two numbers", {"a": float, "b": float})
    async def add(numbers):
        return {"content": [{"type": "text", "text": str(numbers["a"] + numbers["b"])}]}

    async def main():
        options = ClaudeAgentOptions(
            cli_path=sys.argv[1],
            allowed_tools=["Read", "mcp__calculator__add"],
            mcp_servers={"calculator": create_sdk_mcp_server("calculator", tools=[add])},
        )
        async for message in query(prompt="go", options=options):
            if isinstance(message, ResultMessage):
                print(message.subtype, message.result)

    asyncio.run(main())
"""

TYPESCRIPT = """
    const { query } = await import(process.argv[3]);
    const options = { pathToClaudeCodeExecutable: process.argv[2], allowedTools: ['Read'] };
    for await (const message of query({ prompt: 'go', options })) {
      if (message.type === 'result') console.log(message.subtype, message.result);
    }
"""


@pytest.fixture(scope="session")
def peers():
    folder = os.environ.get("CLAUDE_WRAPPER_PEERS")
    if not folder:
        pytest.skip("CLAUDE_WRAPPER_PEERS names no folder with the official SDKs")
    module = Path(folder, "ts", "node_modules", "@anthropic-ai", "claude-agent-sdk", "sdk.mjs")
    return SimpleNamespace(python=Path(folder, "pyenv", "bin", "python"), typescript=module)


def go(command, bare, model, cwd):
    env = {**bare, **model.environment(), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [str(word) for word in command],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=RUNNING,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def results(model):
    return [json.dumps(row["body"]["messages"][-1]["content"]) for row in model.logged()[1:]]


@pytest.fixture
def note(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("alpha\n")
    return path


def test_the_python_sdk_runs_it_with_tools_and_mcp(peers, installed, bare, model, note, tmp_path):
    scripted = model(call("Read", file_path=str(note)), call("mcp__calculator__add", a=19, b=23), say("done"))
    said = go([peers.python, "-c", textwrap.dedent(PYTHON), installed.agent], bare, scripted, tmp_path)
    assert said == "success done"
    assert "alpha" in results(scripted)[0]
    assert "42" in results(scripted)[1]


def test_the_typescript_sdk_runs_it(peers, installed, bare, model, note, tmp_path):
    program = tmp_path / "program.mjs"
    program.write_text(textwrap.dedent(TYPESCRIPT))
    scripted = model(call("Read", file_path=str(note)), say("done"))
    said = go(["node", program, installed.agent, peers.typescript], bare, scripted, tmp_path)
    assert said == "success done"
    assert "alpha" in results(scripted)[0]
