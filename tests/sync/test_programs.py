"""Whole programs that use the blocking door: how they end, and what they leave behind."""

import os
import signal
import subprocess
import sys

import pytest

from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    PermissionResultAllow,
    create_sdk_mcp_server,
    tool,
)
from claude_wrapper.sync import query
from claude_wrapper.testing import ScriptedModel, call, say

PROGRAM = """
import sys
from claude_wrapper import ClaudeAgentOptions
from claude_wrapper.sync import ClaudeSDKClient, query
options = ClaudeAgentOptions(cli_path=sys.argv[1])
"""


@pytest.fixture
def program(agent):
    """Starts a Python program with the scripted agent as its argument."""
    started = []

    def start(code):
        argv = [sys.executable, "-W", "error", "-c", PROGRAM + code, agent.path]
        started.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    "code",
    [
        "run = query(prompt='go', options=options); next(run)",
        "client = ClaudeSDKClient(options); client.connect('go')",
        "client = ClaudeSDKClient(options); client.connect('go'); m = client.receive_messages(); next(m)",
        "run = query(prompt='go', options=options); next(run); run = [run]; run.append(run)",
    ],
)
def test_a_conversation_that_nobody_closes_ends_with_the_program(program, agent, code):
    agent.begin().say("hi").wait("eof").exit(0)

    process = program(code)
    _, errors = process.communicate(timeout=40)

    assert (process.returncode, errors) == (0, "")
    agent.runs[0].wait_gone()


def test_ctrl_c_ends_the_program_and_its_agent(program, agent):
    agent.begin().wait("eof").stall("never")

    process = program("for message in query(prompt='go', options=options): print(message)")
    agent.wait_run().wait_frame("user")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=40)

    assert process.returncode in {-signal.SIGINT, 130}
    assert errors.rstrip().endswith("KeyboardInterrupt")
    agent.runs[0].wait_gone()


def test_the_input_of_a_plain_callback_may_be_left_unanswered(program, agent):
    agent.begin().ask("r1", "can_use_tool", tool_name="Bash", input={}).stall("asked").exit(3)
    code = """
import threading
asked = threading.Event()
def decide(*args):
    asked.set()
    threading.Event().wait()  # nobody is at the keyboard
try:
    options.can_use_tool = decide
    for message in query(prompt='go', options=options):
        asked.wait(40)
        print("asked", flush=True)
except Exception as error:
    print(type(error).__name__)
"""
    process = program(code)
    assert process.stdout.readline() == "asked\n"
    agent.gate("asked").release()
    output, errors = process.communicate(timeout=40)

    assert (process.returncode, output, errors) == (0, "ProcessError\n", "")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_our_agent_asks_plain_functions(tmp_path):
    asked = []

    def decide(name, tool_input, _):
        asked.append((name, tool_input))
        return PermissionResultAllow()

    @tool("double", "Doubles a number", {"n": int})
    def double(args):
        return {"content": [{"type": "text", "text": str(2 * args["n"])}]}

    (tmp_path / "home").mkdir()
    with ScriptedModel(
        [call("Bash", command="touch made"), call("mcp__s__double", n=21), say("done")]
    ) as model:
        options = ClaudeAgentOptions(
            cwd=tmp_path,
            can_use_tool=decide,
            mcp_servers={"s": create_sdk_mcp_server("s", tools=[double])},
            setting_sources=[],
            env=model.environment(HOME=str(tmp_path / "home")),
        )
        messages = list(query(prompt="go", options=options))
        results = [str(request.tool_results) for request in model.requests]

    assert [(name, given.get("command", given.get("n"))) for name, given in asked] == [
        ("Bash", "touch made"),
        ("mcp__s__double", 21),
    ]
    assert (tmp_path / "made").exists()
    assert "42" in results[-1]
    assert [
        b.text for m in messages if isinstance(m, AssistantMessage) for b in m.content if hasattr(b, "text")
    ] == ["done"]
