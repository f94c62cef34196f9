"""ClaudeSDKClient: many turns with one agent, and everything that can be asked of it."""

import contextvars

import anyio
import pytest

from claude_wrapper import (
    AgentDefinition,
    AgentExitedError,
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    ControlError,
    ControlTimeoutError,
    HookMatcher,
    IncompleteTurnError,
    PermissionResultAllow,
    ProcessError,
    ResultMessage,
    StreamEvent,
    UserMessage,
)
from claude_wrapper.testing import ScriptedAgent, floods

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


def client_of(agent, **options):
    return ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path, **options))


async def turn(client):
    """The result of the next turn, and what was said in it."""
    messages = [m async for m in client.receive_response()]
    assert isinstance(messages[-1], ResultMessage)
    return messages[-1].result, [
        b.text for m in messages if isinstance(m, AssistantMessage) for b in m.content
    ]


# -- turns


@pytest.mark.feature("WRAP-05")
async def test_turns_follow_each_other_in_one_process(agent):
    agent.begin().say("one").result("first").wait("user").init().say("two").result("second")

    async with client_of(agent) as client:
        await client.query("a")
        assert await turn(client) == ("first", ["one"])
        await client.query("b")
        assert await turn(client) == ("second", ["two"])

    assert len(agent.runs) == 1
    assert [f["session_id"] for f in agent.runs[0].frames_of("user")] == ["default", "default"]


@pytest.mark.feature("WRAP-05")
async def test_a_prompt_may_come_with_connect(agent):
    client = client_of(agent.begin().result("done"))
    await client.connect("go")
    assert (await turn(client))[0] == "done"
    await client.disconnect()


@pytest.mark.feature("WRAP-05", "STREAM-01")
async def test_prompts_may_come_from_an_iterable(agent):
    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": "go"}, "session_id": "mine"}

    async with client_of(agent.begin().result("done")) as client:
        await client.query(prompts())
        await turn(client)

    assert agent.runs[0].frames_of("user")[0]["session_id"] == "mine"


async def test_ids_that_the_library_gave_to_prompts_are_not_shown(agent):
    agent.begin().say("hi", user_message_uuid="$PROMPT_UUID", user_message_uuids=["$PROMPT_UUID"])
    agent.result("done", user_message_uuid="$PROMPT_UUID", user_message_uuids=["$PROMPT_UUID"])

    async with client_of(agent) as client:
        await client.query("go")
        messages = [m async for m in client.receive_response()]

    assert agent.runs[0].frames_of("user")[0]["uuid"]
    assert [(m.user_message_uuid, m.user_message_uuids) for m in messages[1:]] == [(None, None), (None, None)]


@pytest.mark.feature("STREAM-04", "WRAP-05")
async def test_after_an_interrupt_the_next_response_is_that_of_the_next_prompt(agent):
    agent.begin().say("never mind").wait("interrupt")
    agent.result("", subtype="error_during_execution", is_error=True, user_message_uuids=["$PROMPT_UUID"])
    agent.wait("user").init().say("better").result("second", user_message_uuids=["$PROMPT_UUID"])

    async with client_of(agent) as client:
        await client.query("a")
        await client.interrupt()
        await client.query("b")
        assert await turn(client) == ("second", ["better"])


@pytest.mark.feature("STREAM-04")
async def test_an_interrupted_turn_can_be_read_to_its_end(agent):
    agent.begin().say("never mind").wait("interrupt")
    agent.result("", subtype="error_during_execution", is_error=True, errors=["interrupted"]).wait(
        "eof"
    ).exit(0)

    async with client_of(agent) as client:
        await client.query("a")
        await client.interrupt()
        assert (await turn(client))[1] == ["never mind"]


async def test_the_result_of_a_background_turn_shifts_nothing(agent):
    agent.begin().say("working").result("first").wait("user").init()
    agent.result("from behind", origin={"kind": "task-notification"}).say("two").result("second")

    async with client_of(agent) as client:
        await client.query("a")
        await turn(client)
        await client.query("b")
        assert await turn(client) == ("second", ["two"])


async def test_all_results_are_there_for_who_reads_all_messages(agent):
    agent.begin().result("from behind", origin={"kind": "task-notification"}).result("mine").wait("eof")

    async with client_of(agent) as client:
        await client.query("a")
        results = []
        async for message in client.receive_messages():
            if isinstance(message, ResultMessage):
                results.append(message.result)
                if message.origin is None:
                    break

    assert results == ["from behind", "mine"]


@pytest.mark.feature("STREAM-02")
async def test_ids_that_the_user_gave_to_prompts_are_shown_with_their_answers(agent):
    ids = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(2)]

    async def prompts():
        for uuid in ids:
            yield {"type": "user", "uuid": uuid, "message": {"role": "user", "content": "go"}}

    agent.begin().wait("user").result("both", user_message_uuid=ids[0], user_message_uuids=ids).wait("eof")
    async with client_of(agent) as client:
        assert await client.query(prompts()) == ids[1]
        messages = [m async for m in client.receive_response()]

    assert (messages[-1].user_message_uuid, messages[-1].user_message_uuids) == (ids[0], ids)


@pytest.mark.feature("STREAM-03")
async def test_echoed_prompts_are_messages_of_the_user(agent):
    agent.begin().emit(
        {"type": "user", "message": {"role": "user", "content": "go"}, "isReplay": True, "uuid": "u"}
    )
    async with client_of(agent.result("done"), extra_args={"replay-user-messages": None}) as client:
        await client.query("go")
        messages = [m async for m in client.receive_response()]

    assert "--replay-user-messages" in agent.runs[0].argv
    assert messages[1] == UserMessage("go", uuid="u")


# -- asking


@pytest.mark.feature("WRAP-04")
async def test_hooks_agents_and_skills_travel_in_the_handshake(agent):
    async def hook(_input, _tool_use_id, _context):
        return {}

    options = {
        "hooks": {
            "PreToolUse": [HookMatcher("Bash", [hook], timeout=5)],
            "Stop": [HookMatcher(hooks=[hook])],
        },
        "agents": {"helper": AgentDefinition(description="helps", prompt="Help.", tools=["Read"])},
        "skills": ["notes"],
        "forward_subagent_text": True,
        "system_prompt": {"type": "preset", "preset": "claude_code", "exclude_dynamic_sections": True},
    }
    async with client_of(agent.wait("init").wait("eof"), **options):
        pass

    (handshake,) = agent.runs[0].frames_of("initialize")
    assert handshake["request"] == {
        "subtype": "initialize",
        "hooks": {
            "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 5}],
            "Stop": [{"matcher": None, "hookCallbackIds": ["hook_1"]}],
        },
        "agents": {"helper": {"description": "helps", "prompt": "Help.", "tools": ["Read"]}},
        "skills": ["notes"],
        "forwardSubagentText": True,
        "excludeDynamicSections": True,
    }


@pytest.mark.parametrize("told", [{}, {"hook_on_failure_supported": True, "hooks_applied": False}])
@pytest.mark.feature("WRAP-04")
async def test_an_agent_that_does_not_block_for_a_failing_hook_is_refused_where_one_relies_on_it(agent, told):
    async def hook(_input, _tool_use_id, _context):
        return {}

    hooks = {"PreToolUse": [HookMatcher(hooks=[hook], on_failure="block")]}
    with pytest.raises(CLIConnectionError, match="does not say that it blocks"):
        await client_of(agent.answer("initialize", told).wait("init").wait("eof"), hooks=hooks).connect()

    agent.runs[0].wait_gone()


@pytest.mark.feature("WRAP-05")
async def test_what_is_asked_reaches_the_agent_in_its_names(agent):
    agent.wait("init").answer("mcp_status", {"mcpServers": []}).answer(
        "get_context_usage", {"totalTokens": 7}
    ).wait("eof")

    async with client_of(agent) as client:
        await client.set_permission_mode("plan")
        await client.set_model("m")
        await client.set_model()
        await client.rewind_files("u")
        await client.reconnect_mcp_server("s")
        await client.toggle_mcp_server("s", enabled=False)
        await client.stop_task("t")
        assert await client.get_mcp_status() == {"mcpServers": []}
        assert (await client.get_context_usage())["totalTokens"] == 7

    assert [f["request"] for f in agent.runs[0].frames_of("control_request")[1:]] == [
        {"subtype": "set_permission_mode", "mode": "plan"},
        {"subtype": "set_model", "model": "m"},
        {"subtype": "set_model", "model": None},
        {"subtype": "rewind_files", "user_message_id": "u"},
        {"subtype": "mcp_reconnect", "serverName": "s"},
        {"subtype": "mcp_toggle", "serverName": "s", "enabled": False},
        {"subtype": "stop_task", "task_id": "t"},
        {"subtype": "mcp_status"},
        {"subtype": "get_context_usage"},
    ]


@pytest.mark.feature("WRAP-04", "WRAP-05")
async def test_the_answer_to_the_handshake_is_kept(agent):
    async with client_of(
        agent.answer("initialize", {"commands": [{"name": "x"}]}).wait("init").wait("eof")
    ) as client:
        assert await client.get_server_info() == {"commands": [{"name": "x"}]}


async def test_a_refusal_is_raised_with_its_reason(agent):
    agent.wait("init").answer("set_permission_mode", error="no such mode").wait("eof")

    async with client_of(agent) as client:
        with pytest.raises(ControlError, match="no such mode") as caught:
            await client.set_permission_mode("plan")

    assert caught.value.subtype == "set_permission_mode"


async def test_a_request_that_is_not_answered_in_time_is_withdrawn(agent):
    async with client_of(agent.wait("init").mute("interrupt").wait("eof"), control_timeout=0.1) as client:
        with pytest.raises(ControlTimeoutError):
            await client.interrupt()

    assert len(agent.runs[0].frames_of("control_cancel_request")) == 1


# -- nobody reads


async def test_with_ten_thousand_unread_messages_everything_is_still_answered(agent):
    permission_asked, hook_called = anyio.Event(), anyio.Event()

    async def can_use_tool(_name, _input, _context):
        permission_asked.set()
        return PermissionResultAllow()

    async def hook(_input, _tool_use_id, _context):
        hook_called.set()
        return {}

    agent.begin().flood(floods.deltas(10_000))
    agent.ask("q1", "can_use_tool", tool_name="Bash", input={}).wait("control_response")
    agent.ask("q2", "hook_callback", callback_id="hook_0", input={}).wait("control_response")
    agent.wait("interrupt").result("done").wait("eof")

    options = {"can_use_tool": can_use_tool, "hooks": {"PreToolUse": [HookMatcher(hooks=[hook])]}}
    async with client_of(agent, **options) as client:
        await client.query("go")
        await permission_asked.wait()
        await hook_called.wait()
        await client.interrupt()
        messages = [m async for m in client.receive_response()]

    assert len([m for m in messages if isinstance(m, StreamEvent)]) == 10_000


async def test_unread_messages_are_bounded_where_pausing_harms_nobody(agent):
    agent.begin().flood(floods.big_frames(200)).result("done").wait("eof")

    async with client_of(agent) as client:
        await client.query("go")
        await client.get_context_usage()
        await anyio.wait_all_tasks_blocked()
        assert client._live._inbox._unread < 100_000_000, "240 MB were written"
        texts = [m async for m in client.receive_response() if isinstance(m, AssistantMessage)]

    assert len(texts) == 200


# -- the agent fails


async def test_the_first_failure_is_raised_by_every_later_call(agent):
    agent.begin().say("hi").stderr("out of memory\n").exit(9)
    async with client_of(agent) as client:
        await client.query("go")
        with pytest.raises(ProcessError, match="out of memory") as first:
            await turn(client)
        with pytest.raises(ProcessError, match="out of memory") as second:
            await turn(client)
        with pytest.raises(ProcessError, match="out of memory"):
            await client.query("again")
        with pytest.raises(AgentExitedError, match="out of memory"):
            await client.interrupt()

    assert first.value is second.value
    assert first.value.exit_code == 9


async def test_a_request_that_waits_is_failed_when_the_agent_dies(agent):
    async with client_of(agent.wait("init").wait("mute:interrupt").exit(5)) as client:
        with pytest.raises(AgentExitedError) as caught:
            await client.interrupt()

    assert caught.value.exit_code == 5


async def test_an_agent_that_ends_in_the_middle_of_a_turn_is_told(agent):
    async with client_of(agent.begin().say("hi").exit(0)) as client:
        await client.query("go")
        with pytest.raises(IncompleteTurnError):
            await turn(client)


async def ask_without_end(client):
    while True:
        await client.query("x" * 100_000)


async def test_a_closed_stdin_is_told_with_the_reason_that_follows(agent):
    async with client_of(agent.wait("init").close(0).stall("closed").exit(6)) as client:
        agent.gate("closed").release()
        with pytest.raises(ProcessError) as caught:
            await ask_without_end(client)

    assert caught.value.exit_code == 6


# -- life


@pytest.mark.feature("WRAP-10")
async def test_it_may_be_opened_used_and_closed_in_three_tasks(agent):
    client = client_of(agent.begin().result("done"))
    results = []

    async def use():
        await client.query("go")
        results.append((await turn(client))[0])

    for step in (client.connect, use, client.disconnect):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(step)

    assert results == ["done"]
    agent.runs[0].wait_gone()


@pytest.mark.feature("WRAP-10")
async def test_closing_it_in_another_task_ends_what_is_being_read(agent):
    client = client_of(agent.begin().say("hi").wait("eof"))
    await client.connect("go")
    read = []

    async def reading():
        async for message in client.receive_response():
            read.append(type(message).__name__)  # noqa: PERF401  # what was read so far counts

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reading)
        await anyio.wait_all_tasks_blocked()
        await client.disconnect()

    assert read[-1] == "AssistantMessage"


@pytest.mark.feature("WRAP-05")
async def test_before_connect_and_after_disconnect_it_says_that_it_is_not_connected(agent):
    client = client_of(agent.wait("init").wait("eof"))
    with pytest.raises(CLIConnectionError, match="Not connected"):
        await client.query("go")
    await client.connect()
    await client.disconnect()
    await client.disconnect()
    with pytest.raises(CLIConnectionError, match="Not connected"):
        await client.interrupt()


async def test_it_may_be_connected_again(agent):
    agent.wait("init").wait("eof").next_start().begin().result("again")
    client = client_of(agent)
    await client.connect()
    await client.connect()
    await client.query("go")
    assert (await turn(client))[0] == "again"
    await client.disconnect()
    agent.runs[0].wait_gone()


async def test_closing_is_bounded_and_its_time_can_be_set(agent):
    client = client_of(agent.wait("init").ignore_term().wait("eof").sleep(60), close_timeout=(0.1, 0.1))
    await client.connect()
    pid = client.pid
    with anyio.fail_after(40):
        await client.close(timeout=0.1)

    assert pid == agent.runs[0].pid
    agent.runs[0].wait_gone()


async def test_a_cancelled_close_still_ends_the_agent(agent):
    client = client_of(agent.wait("init").wait("eof").sleep(60), close_timeout=0.1)
    await client.connect()
    with anyio.move_on_after(0.01):
        await client.disconnect()

    agent.runs[0].wait_gone()


async def kill_at_the_first_word(client):
    async for message in client.receive_messages():
        if isinstance(message, AssistantMessage):
            client.kill()


async def test_killing_it_tells_whoever_reads(agent):
    async with client_of(agent.begin().say("hi").sleep(60)) as client:
        await client.query("go")
        with pytest.raises(ProcessError) as caught:
            await kill_at_the_first_word(client)

    assert caught.value.exit_code == -9


async def test_callbacks_run_in_the_context_of_the_latest_query(agent):
    speaker = contextvars.ContextVar("speaker")
    seen = []

    async def can_use_tool(_name, _input, _context):
        seen.append(speaker.get())
        return PermissionResultAllow()

    agent.begin().ask("q1", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result()
    agent.wait("user").ask("q2", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result()
    speaker.set("connect")
    async with client_of(agent, can_use_tool=can_use_tool) as client:
        for name in ("first", "second"):
            speaker.set(name)
            await client.query("go")
            await turn(client)

    assert seen == ["first", "second"]


async def test_many_clients_share_a_loop(tmp_path):
    async def talk(number):
        (tmp_path / str(number)).mkdir()
        scripted = ScriptedAgent(tmp_path / str(number)).begin().say(str(number)).result(str(number))
        async with client_of(scripted) as client:
            await client.query("go")
            assert await turn(client) == (str(number), [str(number)])

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(talk, number)
