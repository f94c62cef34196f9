"""What an option is to the agent: in its arguments, its environment, the handshake, and with our own agent, in effect."""

import json

import anyio
import pytest

from claude_wrapper import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookEventMessage,
    OptionsError,
    ResultMessage,
    UserMessage,
    create_sdk_mcp_server,
    query,
)
from claude_wrapper.testing import ScriptedModel, call, say

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def own(tmp_path):
    """Runs our own agent against a scripted model; returns the messages."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()

    async def own(model, **options):
        env = {**model.environment(), "HOME": str(tmp_path / "home")}
        given = {"cwd": tmp_path / "project", "env": env, "setting_sources": [], **options}
        return [m async for m in query(prompt="go", options=ClaudeAgentOptions(**given))]

    return own


async def started(agent, **options):
    """The start of the agent with these options: its arguments by flag, its environment, its handshake."""
    agent.begin().result()
    settings = ClaudeAgentOptions(cli_path=agent.path, **options)
    [m async for m in query(prompt="go", options=settings)]
    run = agent.runs[-1]
    (initialize,) = run.frames_of("initialize")
    return run.argv, run.env, initialize["request"]


def value_of(argv, flag):
    """What stands behind a flag; None without it."""
    joined = [argument.partition("=")[2] for argument in argv if argument.startswith(f"{flag}=")]
    return joined[0] if joined else argv[argv.index(flag) + 1] if flag in argv else None


@pytest.mark.feature("SKILL-15")
async def test_skills_are_allowed_by_name_and_named_in_the_handshake(agent):
    argv, _, told = await started(agent, skills=["pdf", "tools:csv"], allowed_tools=["Read"])

    assert value_of(argv, "--allowedTools") == "Read,Skill(pdf),Skill(tools:csv)"
    assert told["skills"] == ["pdf", "tools:csv"]


@pytest.mark.feature("SKILL-15")
@pytest.mark.parametrize(
    ("skills", "allowed", "named"), [("all", "Skill", None), ([], None, []), (None, None, None)]
)
async def test_all_skills_no_skills_and_the_agents_choice_are_told_apart(agent, skills, allowed, named):
    argv, _, told = await started(agent, skills=skills)

    assert value_of(argv, "--allowedTools") == allowed
    assert told.get("skills") == named


@pytest.mark.feature("SYS-01", "SYS-02")
@pytest.mark.parametrize(
    ("prompt", "flag", "value"),
    [
        (None, "--system-prompt", ""),
        ("Be brief.", "--system-prompt", "Be brief."),
        ({"type": "custom", "prompt": "Be brief."}, "--system-prompt", "Be brief."),
        ({"type": "file", "path": "/p.md"}, "--system-prompt-file", "/p.md"),
        ({"type": "preset", "preset": "claude_code"}, "--system-prompt", None),
        ({"type": "preset", "preset": "claude_code", "append": "More."}, "--append-system-prompt", "More."),
    ],
)
async def test_each_form_of_system_prompt_has_its_flag(agent, prompt, flag, value):
    argv, _, _ = await started(agent, system_prompt=prompt)

    assert value_of(argv, flag) == value


@pytest.mark.feature("SYS-03", "SYS-04")
async def test_what_changes_is_kept_out_and_kept_fixed_by_the_handshake(agent):
    preset = {"type": "preset", "preset": "claude_code", "exclude_dynamic_sections": True, "snapshot": False}
    _, _, told = await started(agent, system_prompt=preset)

    assert (told["excludeDynamicSections"], told["systemPromptSnapshot"]) == (True, False)


@pytest.mark.feature("SYS-01", "SYS-02")
async def test_our_agent_takes_each_form_of_system_prompt(own, tmp_path):
    file = tmp_path / "prompt.md"
    file.write_text("Written in a file.")
    prompts = {
        "none": None,
        "text": "As a text.",
        "file": {"type": "file", "path": str(file)},
        "preset": {"type": "preset", "preset": "claude_code"},
        "more": {"type": "preset", "preset": "claude_code", "append": "And one thing more."},
    }
    sent = {}
    for name, prompt in prompts.items():
        with ScriptedModel([say("ok")]) as model:
            await own(model, system_prompt=prompt)
        sent[name] = "\n".join(block["text"] for block in model.requests[0].body["system"])

    assert "As a text." in sent["text"]
    assert "Written in a file." in sent["file"]
    assert len(sent["none"]) < len(sent["preset"]) / 4
    assert sent["more"].rstrip().endswith("And one thing more.")
    assert sent["more"].startswith(sent["preset"][:200])


@pytest.mark.feature("MCP-01")
async def test_servers_of_every_kind_are_named_to_the_agent(agent, tmp_path):
    servers = {
        "child": {"command": "server", "args": ["-x"], "env": {"KEY": "s3cret"}},
        "web": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"X": "y"}},
        "events": {"type": "sse", "url": "http://127.0.0.1:1/sse"},
        "here": create_sdk_mcp_server("here"),
    }
    (tmp_path / "keep").mkdir()
    agent.begin().stall("read").result()
    settings = ClaudeAgentOptions(cli_path=agent.path, mcp_servers=servers, strict_mcp_config=True)
    async with ClaudeSDKClient(settings) as client:
        await client.query("go")
        await agent.gate("read").reached()
        given = value_of(agent.runs[0].argv, "--mcp-config")
        config = json.loads(given if given.startswith("{") else await anyio.Path(given).read_text())
        agent.gate("read").release()
        [m async for m in client.receive_response()]

    assert config["mcpServers"] == {**servers, "here": {"type": "sdk", "name": "here"}}
    assert "--strict-mcp-config" in agent.runs[0].argv
    assert "s3cret" not in " ".join(agent.runs[0].argv)


@pytest.mark.feature("EXT-05")
async def test_a_sandbox_is_a_setting(agent):
    sandbox = {"enabled": True, "network": {"allowedDomains": ["example.com"]}}
    argv, _, _ = await started(agent, sandbox=sandbox, settings='{"model": "m"}')

    given = value_of(argv, "--settings")
    if given.startswith("{"):
        assert json.loads(given) == {"model": "m", "sandbox": sandbox}
    else:
        assert given


@pytest.mark.feature("CKPT-01")
async def test_checkpoints_are_switched_on_by_a_variable_and_prompts_are_echoed_with_their_ids(agent):
    agent.begin().emit(
        {"type": "user", "message": {"role": "user", "content": "go"}, "uuid": "u-1", "isReplay": True}
    ).result()
    settings = ClaudeAgentOptions(
        cli_path=agent.path, enable_file_checkpointing=True, extra_args={"replay-user-messages": None}
    )
    messages = [m async for m in query(prompt="go", options=settings)]

    run = agent.runs[0]
    assert run.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] == "true"
    assert "--replay-user-messages" in run.argv
    assert [m.uuid for m in messages if isinstance(m, UserMessage)] == ["u-1"]


@pytest.mark.feature("HOOK-26")
async def test_the_runs_of_hooks_are_messages_of_their_own(agent):
    started = {
        "type": "system",
        "subtype": "hook_started",
        "hook_id": "h",
        "hook_name": "Stop",
        "hook_event": "Stop",
    }
    agent.begin().emit(started, {**started, "subtype": "hook_response", "outcome": "success"}).result()
    settings = ClaudeAgentOptions(cli_path=agent.path, include_hook_events=True)

    messages = [m async for m in query(prompt="go", options=settings)]

    hooks = [m for m in messages if isinstance(m, HookEventMessage)]
    assert "--include-hook-events" in agent.runs[0].argv
    assert [(m.subtype, m.hook_event_name) for m in hooks] == [
        ("hook_started", "Stop"),
        ("hook_response", "Stop"),
    ]


@pytest.mark.feature("WRAP-04", "SUB-09")
async def test_agents_are_told_in_the_handshake_without_what_is_unset(agent):
    agents = {"a": AgentDefinition("finds", "Find it.", tools=["Grep"], maxTurns=3, permissionMode="plan")}
    argv, _, told = await started(agent, agents=agents, forward_subagent_text=True)

    assert told["agents"] == {
        "a": {
            "description": "finds",
            "prompt": "Find it.",
            "tools": ["Grep"],
            "maxTurns": 3,
            "permissionMode": "plan",
        }
    }
    assert told["forwardSubagentText"] is True
    assert "--agents" not in argv


@pytest.mark.feature("LOOP-24", "LOOP-22")
async def test_a_rule_allows_some_commands_of_a_tool_and_no_others(own, tmp_path):
    calls = [call("Bash", command="git --version"), call("Bash", command="touch made"), say("done")]
    with ScriptedModel(calls) as model:
        messages = await own(model, allowed_tools=["Bash(git *)"], permission_mode="dontAsk")

    results = [
        block
        for request in model.requests[-1:]
        for message in request.body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert [bool(result.get("is_error")) for result in results] == [False, True]
    assert not (tmp_path / "project" / "made").exists()
    assert len(messages[-1].permission_denials) == 1


@pytest.mark.feature("SESS-14")
async def test_a_client_keeps_one_session_over_its_prompts(tmp_path):
    with ScriptedModel([say("one"), say("two")]) as model:
        env = {**model.environment(), "HOME": str(tmp_path)}
        async with ClaudeSDKClient(ClaudeAgentOptions(env=env, cwd=tmp_path, setting_sources=[])) as client:
            ids = []
            for prompt in ("first prompt", "second prompt"):
                await client.query(prompt)
                messages = [m async for m in client.receive_response()]
                ids.append(messages[-1].session_id)
                assert [type(m) for m in messages].count(ResultMessage) == 1

    history = json.dumps(model.requests[1].body["messages"])
    assert ids[0] == ids[1]
    assert history.index("first prompt") < history.index("one") < history.index("second prompt")


@pytest.mark.feature("RES-11")
async def test_a_result_prints_as_texts_and_numbers_do(own):
    with ScriptedModel([say("All tests pass.")]) as model:
        result = (await own(model))[-1]

    assert f"Done: {result.result}" == "Done: All tests pass."
    assert isinstance(result.total_cost_usd, float)
    assert f"Cost: ${result.total_cost_usd:.4f}".startswith("Cost: $0.0")
    assert len(f"{result.session_id}") == 36


async def test_names_that_are_no_skills_start_nothing(agent):
    with pytest.raises(OptionsError, match="names of skills"):
        await started(agent, skills=["a(b)"])
    assert agent.runs == []
