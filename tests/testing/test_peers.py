"""The established agent plays against the scripted model, the established SDKs against the scripted agent."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from claude_wrapper.testing import (
    ModelProcess,
    ScriptedAgent,
    ScriptedModel,
    call,
    fail,
    refused_url,
    say,
    stall,
    think,
    turn,
)

PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")
pytestmark = [
    pytest.mark.peers,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers"),
]

LIMIT = 60


@pytest.fixture
def executable():
    (found,) = Path(PEERS).glob("pyenv/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude")
    return found


@pytest.fixture
def environment(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


@pytest.fixture
def run(executable, environment, tmp_path):
    """Runs the executable in print mode on a model, and gives its exit code and its frames."""
    project = tmp_path / "project"
    project.mkdir()

    def run(model, *arguments):
        done = subprocess.run(
            [executable, "-p", "Go", "--output-format", "stream-json", "--verbose", *arguments],
            env={**environment, **model.environment()},
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=LIMIT,
            check=False,
        )
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    return run


def test_the_agent_plays_the_script(run):
    script = [think("hm") + say("Let me see.") + call("Bash", command="echo $((6*7))"), say("All done.")]
    with ScriptedModel(script) as model:
        code, frames = run(model, "--allowedTools", "Bash")
        first, second = model.requests
    assert code == 0
    assert frames[-1]["result"] == "All done."
    assert [
        block["type"]
        for frame in frames
        if frame["type"] == "assistant"
        for block in frame["message"]["content"]
    ] == [
        "thinking",
        "text",
        "tool_use",
        "text",
    ]
    assert "Bash" in first.tool_names
    assert second.tool_results[0]["content"] == "42"


def test_the_agent_tries_again_after_failures(run):
    with ScriptedModel([fail(529, times=2, headers={"retry-after": "0"}), say("ok")]) as model:
        code, frames = run(model)
        outcomes = [request.outcome for request in model.requests]
    assert (code, frames[-1]["result"], outcomes) == (0, "ok", ["failed", "failed", "sent"])


def test_the_agent_reports_what_it_does_not_try_again(run):
    with ScriptedModel([fail(400, message="bad thing", times=None)]) as model:
        code, frames = run(model)
    assert code == 1
    assert "bad thing" in frames[-1]["result"]


def test_partial_messages_carry_the_pieces_of_the_script(run):
    with ScriptedModel([turn(say("abcdefgh"), chunk=3)]) as model:
        _, frames = run(model, "--include-partial-messages")
    deltas = [
        frame["event"]["delta"]
        for frame in frames
        if frame.get("event", {}).get("type") == "content_block_delta"
    ]
    assert [delta["text"] for delta in deltas] == ["abc", "def", "gh"]


def test_usage_reaches_the_result(run):
    with ModelProcess([turn(say("x"), usage={"input_tokens": 7, "output_tokens": 3})]) as model:
        _, frames = run(model)
        assert len([entry for entry in model.logged() if entry["body"].get("tools")]) == 1
    assert (frames[-1]["usage"]["input_tokens"], frames[-1]["usage"]["output_tokens"]) == (7, 3)


def test_an_agent_that_is_killed_in_a_reply_is_seen_to_hang_up(executable, environment):
    with ScriptedModel([say("a") + stall("g") + say("b")]) as model:
        process = subprocess.Popen(
            [executable, "-p", "Go"],
            env={**environment, **model.environment()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            model.gate("g").wait(LIMIT)
        finally:
            process.kill()
            process.wait(LIMIT)
        assert model.requests[0].wait_end() == "abandoned"


def test_the_agent_finds_nobody_at_a_refused_address(run):
    class Nobody:
        def environment(self):
            more = {"ANTHROPIC_API_KEY": "sk-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
            return {"ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_MAX_RETRIES": "0", **more}

    with refused_url() as url:
        code, frames = run(Nobody())
    assert (code, frames[-1]["is_error"]) == (1, True)


PYTHON_DRIVER = """
import asyncio, sys
from claude_agent_sdk import ClaudeAgentOptions, query
async def main():
    async for message in query(prompt="Go", options=ClaudeAgentOptions(cli_path=sys.argv[1])):
        print(type(message).__name__)
asyncio.run(main())
"""

TYPESCRIPT_DRIVER = """
const { query } = await import(process.argv[2]);
const options = { pathToClaudeCodeExecutable: process.argv[3] };
for await (const message of query({ prompt: "Go", options })) console.log(message.type);
"""


def test_the_python_sdk_takes_the_scripted_agent_for_an_agent(tmp_path, environment):
    python = Path(PEERS) / "pyenv/bin/python"
    with ScriptedAgent(tmp_path) as agent:
        agent.begin().say("hi").emit({"type": "future_event"}).result("done").wait("eof")
        done = subprocess.run(
            [python, "-c", PYTHON_DRIVER, agent.path],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert done.stdout.split() == ["SystemMessage", "AssistantMessage", "ResultMessage"], done.stderr
        kinds = [frame["type"] for frame in agent.runs[0].frames]
    assert kinds == ["control_request", "user"]


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node to run the TypeScript SDK")
def test_the_typescript_sdk_takes_the_scripted_agent_for_an_agent(tmp_path, environment):
    module = Path(PEERS) / "ts/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs"
    driver = tmp_path / "driver.mjs"
    driver.write_text(TYPESCRIPT_DRIVER)
    with ScriptedAgent(tmp_path) as agent:
        agent.begin().say("hi").result("done").wait("eof")
        done = subprocess.run(
            ["node", driver, module, agent.path],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    assert done.stdout.split() == ["system", "assistant", "result"], done.stderr
