"""What a client asks of Claude Code, for which the protocol was made: every request is answered, or refused by name."""

import os
from pathlib import Path

import anyio
import pytest

from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ControlError,
    ControlTimeoutError,
    TaskNotificationMessage,
    TaskStartedMessage,
    create_sdk_mcp_server,
    tool,
)
from claude_wrapper.testing import ScriptedModel, call, say

PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.peers,
    pytest.mark.timeout(180),
    pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers"),
]

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
async def bounded():
    with anyio.fail_after(150):
        yield


@tool("t", "Does nothing.", {"a": int})
async def nothing(_args):
    return {"content": []}


@pytest.fixture
def options(tmp_path):
    (claude,) = Path(PEERS).glob("pyenv/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude")
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()

    def made(model, **more):
        env = {
            **model.environment(),
            "HOME": str(tmp_path / "home"),
            "PATH": os.environ["PATH"],
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        return ClaudeAgentOptions(
            cli_path=claude,
            inherit_env=False,
            env=env,
            cwd=tmp_path / "project",
            setting_sources=[],
            mcp_servers={"s": create_sdk_mcp_server("s", tools=[nothing])},
            **more,
        )

    return made


async def turn(client, prompt="go"):
    prompt_id = await client.query(prompt)
    return prompt_id, [message async for message in client.receive_response()]


async def until(client, state):
    """The servers, once all of them are in a state."""
    while True:
        status = await client.get_mcp_status()
        if all(server["status"] == state for server in status["mcpServers"]):
            return status
        await anyio.lowlevel.checkpoint()


@pytest.mark.feature("WRAP-05")
async def test_what_there_is_can_be_asked_for(options):
    with ScriptedModel([say("hello")]) as model:
        async with ClaudeSDKClient(options(model)) as client:
            await turn(client)
            (server,) = (await client.get_mcp_status())["mcpServers"]
            usage = await client.get_context_usage()
            summary = await client.get_context_usage(detail="summary")
            report = await client.get_usage()
            cost = await client.get_session_cost()
            models = await client.list_models()
            account = await client.account_info()
            settings = await client.get_settings()
            info = await client.get_server_info()
            commands, agents = await client.list_commands(), await client.list_agents()
            reloaded = await client.reload_plugins()

    assert (server["name"], server["status"]) == ("s", "connected")
    assert [tool["name"] for tool in server["tools"]] == ["t"]
    assert usage["totalTokens"] > 0
    assert usage["maxTokens"] > usage["totalTokens"]
    assert {category["name"] for category in summary["categories"]}
    assert report["session"]["total_cost_usd"] > 0
    assert "$" in cost
    assert {"value", "displayName", "description"} <= set(models[0])
    assert account["apiKeySource"] == "ANTHROPIC_API_KEY"
    assert settings["effective"] == {}
    assert settings["applied"]["model"]
    assert info["commands"]
    assert {"name", "description", "argumentHint"} <= set(commands[0])
    assert {"name", "description"} <= set(agents[0])
    assert reloaded["error_count"] == 0
    assert {"name", "path", "source"} <= set(reloaded["plugins"][0])


@pytest.mark.feature("WRAP-05")
async def test_how_it_works_can_be_changed(options):
    with ScriptedModel([say("one"), say("two")]) as model:
        async with ClaudeSDKClient(options(model)) as client:
            await turn(client)
            await client.set_model("claude-sonnet-4-5")
            await client.set_permission_mode("plan")
            await client.set_max_thinking_tokens(1024)
            await client.rename_session("A title")
            await turn(client)
            settings = await client.get_settings()
            await client.set_model()
            await client.set_max_thinking_tokens(None, display="omitted")
            await client.apply_flag_settings({"model": "claude-opus-4-5"})
            with pytest.raises(ControlError):
                await client.apply_flag_settings({"permissions": "no"})
            changed = await client.get_settings()

    first, second = [request.body["model"] for request in model.requests][-2:]
    assert first != second == "claude-sonnet-4-5"
    assert settings["applied"]["model"] == "claude-sonnet-4-5"
    assert changed["effective"]["model"] == "claude-opus-4-5"


@pytest.mark.feature("WRAP-05")
async def test_files_can_be_rewound_and_it_can_be_tried_before(options, tmp_path):
    file = tmp_path / "project" / "a.txt"
    with ScriptedModel([call("Write", file_path=str(file), content="x\n"), say("written")]) as model:
        settings = options(model, permission_mode="acceptEdits", enable_file_checkpointing=True)
        async with ClaudeSDKClient(settings) as client:
            prompt_id, _ = await turn(client)
            assert file.exists()
            tried = await client.rewind_files(prompt_id, dry_run=True)
            assert file.exists()
            done = await client.rewind_files(prompt_id)
            with pytest.raises(ControlError, match="checkpoint"):
                await client.rewind_files(NOBODY)

    assert tried["canRewind"] is True
    assert [Path(name).name for name in tried["filesChanged"]] == ["a.txt"]
    assert done["canRewind"] is True
    assert not file.exists()


@pytest.mark.feature("WRAP-05")
async def test_background_tasks_can_be_looked_at_and_stopped(options):
    shell = call("Bash", command="echo out; sleep 60", run_in_background=True)
    with ScriptedModel([shell, say("started"), *[say("noted")] * 4]) as model:
        async with ClaudeSDKClient(options(model, allowed_tools=["Bash"])) as client:
            _, messages = await turn(client)
            (started,) = [m for m in messages if isinstance(m, TaskStartedMessage)]
            while not (output := await client.get_task_output(started.task_id))["output"]:  # noqa: ASYNC110  # no event tells what a command prints
                await anyio.sleep(0.05)
            all_moved = await client.background_tasks()
            await client.stop_task(started.task_id)
            async for message in client.receive_messages():
                if isinstance(message, TaskNotificationMessage):
                    break
            with pytest.raises(ControlError):
                await client.get_task_output("none")

    assert (output["output"], output["truncated"]) == ("out\n", False)
    assert all_moved is True
    assert (message.task_id, message.status) == (started.task_id, "stopped")


@pytest.mark.feature("WRAP-05", "MCP-16")
async def test_tool_servers_can_be_switched_set_and_connected_again(options):
    with ScriptedModel([say("hello")]) as model:
        async with ClaudeSDKClient(options(model)) as client:
            await turn(client)
            await client.toggle_mcp_server("s", enabled=False)
            off = await client.get_mcp_status()
            await client.toggle_mcp_server("s", enabled=True)
            on = await until(client, "connected")
            for name in ("s", "none"):
                with pytest.raises(ControlError):
                    await client.reconnect_mcp_server(name)
            more = {"z": create_sdk_mcp_server("z", tools=[nothing])}
            answer = await client.set_mcp_servers(more)
            status = await until(client, "connected")

    assert [server["status"] for server in off["mcpServers"]] == ["disabled"]
    assert [server["status"] for server in on["mcpServers"]] == ["connected"]
    assert (answer["added"], answer["removed"], answer["errors"]) == (["z"], ["s"], {})
    assert [(server["name"], server["status"]) for server in status["mcpServers"]] == [("z", "connected")]


@pytest.mark.feature("WRAP-05")
async def test_a_turn_can_be_interrupted_and_prompts_taken_back(options):
    with ScriptedModel([call("Bash", command="tail -f /dev/null"), *[say("well")] * 3]) as model:
        async with ClaudeSDKClient(options(model, allowed_tools=["Bash"])) as client:
            await client.query("sleep")
            async for message in client.receive_messages():
                if isinstance(message, TaskStartedMessage | AssistantMessage):
                    break
            waiting = await client.query("later")
            taken_back = await client.cancel_prompt(waiting)
            await client.interrupt()
            messages = [m async for m in client.receive_response()]
            again = await client.cancel_prompt(NOBODY)

    assert messages[-1].subtype == "error_during_execution"
    assert taken_back is True
    assert again is False


@pytest.mark.feature("WRAP-05")
async def test_refusals_and_late_answers_are_typed(options):
    with ScriptedModel([say("hello")]) as model:
        async with ClaudeSDKClient(options(model)) as client:
            with pytest.raises(ControlError) as refused:
                await client.request("nonsense")
            with pytest.raises(ControlTimeoutError):
                await client.get_mcp_status(timeout=0.000_01)
            assert "mcpServers" in await client.get_mcp_status()

    assert refused.value.code == "unsupported_request"
    assert refused.value.subtype == "nonsense"
