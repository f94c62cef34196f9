"""Where programs meet a system: long arguments, environments, executables of other makers."""

import msgspec
import pytest

from claude_wrapper import (
    AgentDefinition,
    AgentStartError,
    ClaudeAgentOptions,
    CLINotFoundError,
    query,
)
from claude_wrapper.testing import ScriptedModel, call, say

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]

LONGEST_ARGUMENT = 128 * 1024


@pytest.mark.feature("WRAP-03", "WRAP-04")
async def test_options_of_any_size_start_an_agent(agent, options):
    agent.begin().result()
    large = {
        "system_prompt": "s" * 200_000,
        "mcp_servers": {"m": {"command": "x", "args": ["a" * 200_000]}},
        "agents": {"helper": AgentDefinition("d" * 100_000, "p" * 300_000)},
        "settings": msgspec.json.encode({"env": {"A": "e" * 200_000}}).decode(),
        "allowed_tools": [f"Bash(echo {n}:*)" for n in range(1_000)],
        "output_format": {"type": "json_schema", "schema": {"description": "x" * 200_000}},
    }

    messages = [m async for m in query(prompt="u" * 3_000_000, options=options(**large))]

    assert messages[-1].result == "done"
    run = agent.runs[0]
    assert max(map(len, run.argv)) < LONGEST_ARGUMENT
    (told,) = run.frames_of("initialize")
    assert told["request"]["agents"]["helper"]["prompt"] == "p" * 300_000
    assert len(run.frames_of("user")[0]["message"]["content"]) == 3_000_000


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.feature("SYS-02")
async def test_a_large_system_prompt_reaches_the_model_whole(own):
    prompt = "Say as little as you can. " * 10_000
    with ScriptedModel([say("ok")]) as model:
        messages = [m async for m in query(prompt="go", options=own(model, system_prompt=prompt))]

    assert messages[-1].result == "ok"
    assert prompt.strip() in str(model.requests[0].body["system"])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.feature("WRAP-07")
async def test_it_runs_inside_a_session_of_another_agent(own, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    with ScriptedModel([call("Bash", command="echo hello"), say("ok")]) as model:
        messages = [m async for m in query(prompt="go", options=own(model, allowed_tools=["Bash"]))]

    assert messages[-1].result == "ok"


async def test_what_the_agent_inherits_can_be_named(agent, monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "s3cret")
    agent.begin().result()
    settings = ClaudeAgentOptions(
        cli_path=agent.path, inherit_env=["PATH"], env={"MINE": "1", "CLAUDE_CODE_ENTRYPOINT": "mine"}
    )

    [m async for m in query(prompt="go", options=settings)]

    env = agent.runs[0].env
    assert "DEPLOY_TOKEN" not in env
    assert (env["MINE"], env["CLAUDE_CODE_ENTRYPOINT"]) == ("1", "mine")
    assert "PATH" in env


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.feature("ENV-02")
async def test_the_key_is_in_no_environment_of_a_tool(own):
    with ScriptedModel([call("Bash", command="env"), say("ok")]) as model:
        settings = own(model, allowed_tools=["Bash"], env={"ANTHROPIC_API_KEY": "sk-ant-s3cret"})
        [m async for m in query(prompt="go", options=settings)]

    (result,) = model.requests[-1].body["messages"][-1]["content"]
    assert "HOME=" in str(result["content"])
    assert "s3cret" not in str(result["content"])


async def test_another_program_of_that_name_is_named_with_its_path(tmp_path, monkeypatch):
    decoy = tmp_path / "claude"
    decoy.write_text("#!/no/such/interpreter\n")
    decoy.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(AgentStartError, match="/no/such/interpreter"):
        [m async for m in query(prompt="go", options=ClaudeAgentOptions(cli_path="claude"))]
    with pytest.raises(CLINotFoundError, match="no-such-agent"):
        [m async for m in query(prompt="go", options=ClaudeAgentOptions(cli_path="no-such-agent"))]
