"""Replay: programs meet again what was recorded, and are told where they do something else."""

import contextlib
import json
import os
from pathlib import Path

import anyio
import pytest

from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ControlError,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ProcessError,
    ResultMessage,
    TextBlock,
    create_sdk_mcp_server,
    query,
    tool,
)
from claude_wrapper.testing import (
    RecordingTransport,
    ReplayError,
    ReplayTransport,
    ScriptedModel,
    ScriptError,
    call,
    say,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def seen(messages):
    """What a program saw, without what differs from run to run."""
    return [
        (
            type(m).__name__,
            getattr(m, "content", None) or getattr(m, "result", None) or getattr(m, "subtype", None),
        )
        for m in messages
    ]


async def run(transport, prompt="go", **options):
    return [m async for m in query(prompt=prompt, options=ClaudeAgentOptions(**options), transport=transport)]


async def record(agent, path, prompt="go", **options):
    transport = RecordingTransport(path, ClaudeAgentOptions(cli_path=agent.path, **options))
    return await run(transport, prompt, **options)


async def test_a_program_sees_again_what_it_saw(agent, path):
    agent.begin().say("hi").emit({"type": "future_event"}).result("done")
    before = await record(agent, path)

    with ReplayTransport(path) as transport:
        after = await run(transport)

    assert seen(after) == seen(before)
    assert len(agent.runs) == 1


async def test_another_prompt_is_a_difference(agent, path):
    await record(agent.begin().result(), path, "Say hello")

    transport = ReplayTransport(path)
    with pytest.raises(ReplayError, match='content: recorded "Say hello", sent "Say goodbye"'):
        await run(transport, "Say goodbye")
    with pytest.raises(ReplayError, match="Say goodbye"):
        transport.verify()


async def test_what_may_differ_can_be_named(agent, path):
    await record(agent.begin().result("done"), path, "It is 12:00")
    for ignore in ("content", "message.content", ["message"]):
        with ReplayTransport(path, ignore=ignore) as transport:
            assert (await run(transport, "It is 12:01"))[-1].result == "done"


async def test_a_secret_of_the_recording_may_be_another_one_now(agent, path):
    await record(agent.begin().result("done"), path, "Use sk-ant-abcdefgh12345678 now")
    assert (await run(ReplayTransport(path), "Use sk-ant-other-one-87654321 now"))[-1].result == "done"


async def conversation(transport, second="b", interrupts=True):
    """A program with a client: two turns, one interrupted, and questions in between."""
    results = []
    async with ClaudeSDKClient(transport=transport) as client:
        await client.query("a")
        results += [m async for m in client.receive_response()]
        await client.set_model("small")
        results.append(await client.get_context_usage())
        with pytest.raises(ControlError, match="no such mode"):
            await client.set_permission_mode("plan")
        await client.query(second)
        async for message in client.receive_response():
            results.append(message)
            if isinstance(message, AssistantMessage) and interrupts:
                await client.interrupt()
    return results


def conversing(agent):
    agent.answer("get_context_usage", {"totalTokens": 3}).answer("set_permission_mode", error="no such mode")
    agent.begin().say("one").result("first", user_message_uuids=["$PROMPT_UUID"]).wait("user").init().say(
        "two"
    )
    agent.wait("interrupt").result("", subtype="error_during_execution", user_message_uuids=["$PROMPT_UUID"])
    return agent.wait("eof")


async def test_a_client_sees_again_what_it_saw(agent, path):
    options = ClaudeAgentOptions(cli_path=conversing(agent).path)
    before = await conversation(RecordingTransport(path, options))

    with ReplayTransport(path) as transport:
        after = await conversation(transport)

    assert [seen([m]) if hasattr(m, "subtype") else m for m in after if isinstance(m, dict)] == [
        {"totalTokens": 3}
    ]
    assert seen(before) == seen(after)
    assert all(m.user_message_uuids is None for m in after if isinstance(m, ResultMessage))


async def test_a_request_that_was_not_recorded_is_a_difference(agent, path):
    agent.begin().result("done").wait("eof")
    async with ClaudeSDKClient(transport=RecordingTransport(path, ClaudeAgentOptions(cli_path=agent.path))):
        pass

    transport = ReplayTransport(path)
    async with ClaudeSDKClient(transport=transport) as client:
        with pytest.raises(ReplayError, match="The request set_model is not in the recording"):
            await client.set_model("x")
    with pytest.raises(ReplayError, match="set_model"):
        transport.verify()


async def test_a_program_that_leaves_something_out_is_told_what_is_awaited(agent, path):
    options = ClaudeAgentOptions(cli_path=conversing(agent).path)
    await conversation(RecordingTransport(path, options))

    with pytest.raises(
        ReplayError, match=r"Nothing came within 0.3 seconds; awaited is the request interrupt"
    ):
        await conversation(ReplayTransport(path, patience=0.3), interrupts=False)


async def test_what_a_program_never_sends_is_told_at_the_end(agent, path):
    options = ClaudeAgentOptions(cli_path=conversing(agent).path)
    await conversation(RecordingTransport(path, options))

    async with ClaudeSDKClient(transport=(transport := ReplayTransport(path))) as client:
        await client.query("a")
        async for _ in client.receive_response():
            pass
    with pytest.raises(
        ReplayError, match=r"ended without the request set_model \(line \d+ of the recording\)"
    ):
        transport.verify()


async def test_an_error_of_the_program_is_not_hidden_by_what_it_did_not_do(path):
    with pytest.raises(LookupError), ReplayTransport(path):
        raise LookupError


async def test_a_file_that_is_no_recording_is_refused(path):
    for text in (
        "",
        "no\n",
        '{"recording": 99, "made": ""}\n',
        '{"recording": 1, "made": ""}\n{"at": 1, "is": "odd"}\n',
    ):
        path.write_text(text)
        with pytest.raises(ScriptError):
            await run(ReplayTransport(path))
    path.unlink()
    with pytest.raises(ScriptError, match="cannot be read"):
        await run(ReplayTransport(path))


async def test_a_recording_that_was_cut_off_is_played_as_far_as_it_goes(agent, path):
    await record(agent.begin().say("hi").result("done"), path)
    text = path.read_text()
    path.write_text(text[: text.rindex('"received"') + 40])

    transport = ReplayTransport(path, patience=0.3)
    with pytest.raises(ReplayError, match="the recording ends here"):
        await run(transport)


async def test_a_replay_can_be_killed_like_an_agent(agent, path):
    agent.begin().say("hi").stall("never")
    async with ClaudeSDKClient(
        transport=RecordingTransport(path, ClaudeAgentOptions(cli_path=agent.path))
    ) as client:
        await client.query("go")
        await anext(client.receive_messages())
        client.kill()

    async with ClaudeSDKClient(transport=ReplayTransport(path)) as client:
        await client.query("go")
        messages = client.receive_messages()
        await anext(messages)
        client.kill()
        with pytest.raises(ProcessError) as caught:
            async for _ in messages:
                pass
    assert caught.value.exit_code == -9


async def test_leaving_a_replay_early_is_harmless(agent, path):
    agent.begin().say("hi").wait("interrupt").result("").wait("eof")
    transports = [RecordingTransport(path, ClaudeAgentOptions(cli_path=agent.path)), ReplayTransport(path)]
    for transport in transports:
        async with contextlib.aclosing(query(prompt="go", transport=transport)) as messages:
            async for message in messages:
                if isinstance(message, AssistantMessage):
                    break
    for run_ in agent.runs:
        await run_.gone()


async def test_the_recording_can_be_played_in_its_own_time(agent, path):
    await record(agent.begin().say("hi").result("done"), path)
    lines = lines_of(path)
    for line in lines[1:]:
        line["at"] = 50.0 if line["is"] == "end" else 0.0
    [line for line in lines[1:] if line["is"] == "received"][-1]["at"] = 0.4
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    started = anyio.current_time()
    await run(ReplayTransport(path, pace=0.5))
    assert 0.2 <= anyio.current_time() - started < 5


async def test_a_program_that_does_not_use_the_recording_is_told(path):
    with pytest.raises(ReplayError, match="did not use the recording"), ReplayTransport(path):
        pass


# -- with our agent


class Program:
    """A program with a permission callback, a hook and a tool."""

    def __init__(self, answer="allow", doubled=42):
        self.answer = answer
        self.doubled = doubled
        self.hooked = []

    async def decide(self, name, tool_input, context):
        if self.answer == "allow":
            return PermissionResultAllow()
        return PermissionResultDeny(message="not today")

    async def hook(self, data, tool_use_id, context):
        self.hooked.append(data["tool_name"])
        return {}

    def options(self, **more):
        @tool("double", "Doubles", {"n": int})
        async def double(_):
            return {"content": [{"type": "text", "text": str(self.doubled)}]}

        return ClaudeAgentOptions(
            can_use_tool=self.decide,
            hooks={"PreToolUse": [HookMatcher(hooks=[self.hook])]},
            mcp_servers={"s": create_sdk_mcp_server("s", tools=[double])},
            setting_sources=[],
            **more,
        )

    async def run(self, options, transport):
        messages = [m async for m in query(prompt="go", options=options, transport=transport)]
        return [
            b.text
            for m in messages
            if isinstance(m, AssistantMessage)
            for b in m.content
            if isinstance(b, TextBlock)
        ]


@pytest.fixture
async def recorded(path, tmp_path):
    """A recording of that program with our agent, in which a file was made and a number doubled."""
    (tmp_path / "home").mkdir()
    turns = [call("Bash", command="touch made"), call("mcp__s__double", n=21), say("done")]
    with ScriptedModel(turns) as model:
        env = model.environment(HOME=str(tmp_path / "home"))
        program = Program()
        options = program.options(env=env, cwd=tmp_path)
        assert await program.run(options, RecordingTransport(path, options)) == ["done"]
    assert (tmp_path / "made").exists()
    (tmp_path / "made").unlink()
    return path


async def test_a_program_with_callbacks_is_asked_again_and_nothing_is_done(recorded, tmp_path):
    program = Program()
    with ReplayTransport(recorded) as transport:
        assert await program.run(program.options(), transport) == ["done"]

    assert program.hooked == ["Bash", "mcp__s__double"]
    assert not (tmp_path / "made").exists()


async def test_another_permission_answer_is_a_difference(recorded):
    program = Program(answer="deny")
    with pytest.raises(ReplayError) as caught:
        await program.run(program.options(), ReplayTransport(recorded))

    assert "The answer to can_use_tool for Bash is not as in line" in str(caught.value)
    assert 'behavior: recorded "allow", sent "deny"' in str(caught.value)


async def test_another_result_of_a_tool_is_a_difference(recorded):
    program = Program(doubled=43)
    with pytest.raises(ReplayError, match=r'mcp_message for s[\s\S]*text: recorded "42", sent "43"'):
        await program.run(program.options(), ReplayTransport(recorded))


async def test_other_hooks_are_a_difference(recorded):
    program = Program()
    options = program.options()
    options.hooks = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[program.hook])]}
    with pytest.raises(
        ReplayError, match=r'The request initialize[\s\S]*matcher: recorded nothing, sent "Bash"'
    ):
        await program.run(options, ReplayTransport(recorded))


PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")


@pytest.fixture
def established_agent():
    (found,) = Path(PEERS).glob("pyenv/lib/python3*/site-packages/claude_agent_sdk/_bundled/claude")
    return found


@pytest.mark.peers
@pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers")
async def test_a_run_of_the_established_agent_is_played_back_as_well(established_agent, path, tmp_path):
    (tmp_path / "home").mkdir()
    turns = [call("Bash", command="touch made"), call("mcp__s__double", n=21), say("done")]
    with ScriptedModel(turns) as model:
        env = model.environment(HOME=str(tmp_path / "home"), PATH=os.environ["PATH"])
        program = Program()
        options = program.options(env=env, inherit_env=False, cwd=tmp_path, cli_path=established_agent)
        assert await program.run(options, RecordingTransport(path, options)) == ["done"]

    again = Program()
    with ReplayTransport(path) as transport:
        assert await again.run(again.options(), transport) == ["done"]
    assert again.hooked == program.hooked == ["Bash", "mcp__s__double"]
