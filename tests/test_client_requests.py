"""What a client asks of its agent: what is sent, what comes back, and what is raised."""

import math

import anyio
import pytest

from claude_wrapper import (
    AgentExitedError,
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    ControlError,
    ControlTimeoutError,
    MessageParseError,
    OptionsError,
    ResultMessage,
    create_sdk_mcp_server,
    tool,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


def client_of(agent, **options):
    return ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path, **options))


def asked(agent):
    """The bodies of the control requests, without the handshake."""
    return [f["request"] for f in agent.runs[0].frames_of("control_request")[1:]]


async def turn(client):
    """The result of the next turn, and what was said in it."""
    messages = [m async for m in client.receive_response()]
    assert isinstance(messages[-1], ResultMessage)
    return messages[-1].result, [
        b.text for m in messages if isinstance(m, AssistantMessage) for b in m.content
    ]


STDIO = {"command": "server", "args": ["-x"]}

REQUESTS = {
    "interrupt": (
        lambda c: c.interrupt(),
        {"subtype": "interrupt"},
        {"still_queued": ["p1"]},
        {"still_queued": ["p1"]},
    ),
    "interrupt all": (
        lambda c: c.interrupt(cancel_queued=True),
        {"subtype": "interrupt", "cancel_queued": True},
        {"still_queued": [], "cancelled": ["p1"]},
        {"still_queued": [], "cancelled": ["p1"]},
    ),
    "cancel a prompt": (
        lambda c: c.cancel_prompt("p1"),
        {"subtype": "cancel_async_message", "message_uuid": "p1"},
        {"cancelled": True},
        True,
    ),
    "cancel a prompt that runs": (
        lambda c: c.cancel_prompt("p1"),
        {"subtype": "cancel_async_message", "message_uuid": "p1"},
        {"cancelled": False},
        False,
    ),
    "set the mode": (
        lambda c: c.set_permission_mode("plan"),
        {"subtype": "set_permission_mode", "mode": "plan"},
        {"mode": "plan"},
        None,
    ),
    "set the model": (
        lambda c: c.set_model("m"),
        {"subtype": "set_model", "model": "m"},
        {"model": "m"},
        None,
    ),
    "set the default model": (
        lambda c: c.set_model(),
        {"subtype": "set_model", "model": None},
        {"model": "m"},
        None,
    ),
    "limit thinking": (
        lambda c: c.set_max_thinking_tokens(1000, display="omitted"),
        {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 1000, "thinking_display": "omitted"},
        None,
        None,
    ),
    "free thinking": (
        lambda c: c.set_max_thinking_tokens(None),
        {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None},
        None,
        None,
    ),
    "apply settings": (
        lambda c: c.apply_flag_settings({"effortLevel": "low"}),
        {"subtype": "apply_flag_settings", "settings": {"effortLevel": "low"}},
        None,
        None,
    ),
    "get settings": (
        lambda c: c.get_settings(),
        {"subtype": "get_settings"},
        {"effective": {"a": 1}, "sources": []},
        {"effective": {"a": 1}, "sources": []},
    ),
    "reload plugins": (
        lambda c: c.reload_plugins(),
        {"subtype": "reload_plugins"},
        {"commands": [], "agents": [], "plugins": [], "mcpServers": [], "error_count": 0},
        {"commands": [], "agents": [], "plugins": [], "mcpServers": [], "error_count": 0},
    ),
    "rewind": (
        lambda c: c.rewind_files("u"),
        {"subtype": "rewind_files", "user_message_id": "u"},
        {"canRewind": True, "skippedLinks": 0},
        {"canRewind": True, "skippedLinks": 0},
    ),
    "rewind dry": (
        lambda c: c.rewind_files("u", dry_run=True),
        {"subtype": "rewind_files", "user_message_id": "u", "dry_run": True},
        {"canRewind": False, "error": "not enabled"},
        {"canRewind": False, "error": "not enabled"},
    ),
    "rename": (
        lambda c: c.rename_session("Title"),
        {"subtype": "rename_session", "title": "Title", "source": "host"},
        None,
        None,
    ),
    "servers": (
        lambda c: c.get_mcp_status(),
        {"subtype": "mcp_status"},
        {"mcpServers": []},
        {"mcpServers": []},
    ),
    "reconnect a server": (
        lambda c: c.reconnect_mcp_server("s"),
        {"subtype": "mcp_reconnect", "serverName": "s"},
        None,
        None,
    ),
    "toggle a server": (
        lambda c: c.toggle_mcp_server("s", enabled=False),
        {"subtype": "mcp_toggle", "serverName": "s", "enabled": False},
        None,
        None,
    ),
    "set servers": (
        lambda c: c.set_mcp_servers({"s": STDIO}),
        {"subtype": "mcp_set_servers", "servers": {"s": STDIO}},
        {"added": ["s"], "removed": [], "errors": {}},
        {"added": ["s"], "removed": [], "errors": {}},
    ),
    "stop a task": (lambda c: c.stop_task("t"), {"subtype": "stop_task", "task_id": "t"}, {}, None),
    "background all": (lambda c: c.background_tasks(), {"subtype": "background_tasks"}, {}, True),
    "background one": (
        lambda c: c.background_tasks("toolu_1"),
        {"subtype": "background_tasks", "tool_use_id": "toolu_1"},
        {"backgrounded": False},
        False,
    ),
    "a task's output": (
        lambda c: c.get_task_output("t"),
        {"subtype": "get_task_output", "task_id": "t"},
        {"output": "begin\n", "total_bytes": 6, "truncated": False},
        {"output": "begin\n", "total_bytes": 6, "truncated": False},
    ),
    "models": (
        lambda c: c.list_models(),
        {"subtype": "list_models"},
        {"models": [{"value": "m", "displayName": "M", "description": ""}]},
        [{"value": "m", "displayName": "M", "description": ""}],
    ),
    "context": (
        lambda c: c.get_context_usage(),
        {"subtype": "get_context_usage"},
        {"totalTokens": 7},
        {"totalTokens": 7},
    ),
    "context in short": (
        lambda c: c.get_context_usage(detail="summary"),
        {"subtype": "get_context_usage", "detail": "summary"},
        {"totalTokens": 7},
        {"totalTokens": 7},
    ),
    "usage": (
        lambda c: c.get_usage(),
        {"subtype": "get_usage", "skip_behaviors": True},
        {"session": {"total_cost_usd": 0.1}},
        {"session": {"total_cost_usd": 0.1}},
    ),
    "cost": (
        lambda c: c.get_session_cost(),
        {"subtype": "get_session_cost"},
        {"text": "$0.10"},
        "$0.10",
    ),
    "anything": (
        lambda c: c.request("read_file", {"path": "a.txt"}),
        {"subtype": "read_file", "path": "a.txt"},
        {"contents": "alpha"},
        {"contents": "alpha"},
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.feature("WRAP-05")
async def test_a_request_reaches_the_agent_in_its_names_and_its_answer_comes_back(agent, name):
    ask, body, answer, returned = REQUESTS[name]
    async with client_of(agent.wait("init").answer(body["subtype"], answer).wait("eof")) as client:
        assert await ask(client) == returned

    assert asked(agent) == [body]


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.feature("WRAP-05")
async def test_before_connect_every_request_says_that_it_is_not_connected(agent, name):
    with pytest.raises(CLIConnectionError, match="Not connected"):
        await REQUESTS[name][0](client_of(agent.wait("init")))


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_refusal_of_any_request_is_raised_with_its_reason(agent, name):
    ask, body, *_ = REQUESTS[name]
    async with client_of(agent.wait("init").answer(body["subtype"], error="no").wait("eof")) as client:
        with pytest.raises(ControlError, match="no") as caught:
            await ask(client)

    assert caught.value.subtype == body["subtype"]


async def test_the_code_of_a_refusal_is_there_for_programs(agent):
    refusal = {"subtype": "error", "error": "not this one", "error_code": "unsupported_request"}
    agent.wait("init").wait("mute:list_models")
    async with client_of(agent.stall("asked").wait("eof")) as client, anyio.create_task_group() as tasks:

        async def ask():
            with pytest.raises(ControlError) as caught:
                await client.list_models()
            assert caught.value.code == "unsupported_request"

        tasks.start_soon(ask)
        frame = await agent.runs[0].frame("list_models")
        reply = {"type": "control_response", "response": {**refusal, "request_id": frame["request_id"]}}
        client._live._router._peer.receive(decoded(reply))
        agent.gate("asked").release()


def decoded(frame):
    from claude_wrapper.conversation.router import _DECODER
    from claude_wrapper.wire.codec import encode

    return _DECODER.decode(encode(frame))


async def test_a_rewind_that_does_nothing_raises_its_reason(agent):
    """The official client returns None, as if the files were as they had been."""
    agent.wait("init").answer("rewind_files", {"canRewind": False, "error": "not enabled"}).wait("eof")
    async with client_of(agent) as client:
        with pytest.raises(ControlError, match="not enabled"):
            await client.rewind_files("u")


# -- time


async def test_each_call_can_have_its_own_time(agent):
    async with client_of(agent.wait("init").mute("mcp_status").wait("eof")) as client:
        with pytest.raises(ControlTimeoutError, match=r"0\.05 seconds"):
            await client.get_mcp_status(timeout=0.05)
        assert await client.get_context_usage(timeout=math.inf) == {}


@pytest.mark.parametrize("wrong", [0, -1, "5", True, float("nan")])
async def test_a_time_that_is_none_is_refused(agent, wrong):
    async with client_of(agent.wait("init").wait("eof")) as client:
        with pytest.raises(OptionsError, match="timeout must be a number of seconds"):
            await client.get_mcp_status(timeout=wrong)


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda c: c.set_model(5), "set_model.*got `int`.*model"),
        (lambda c: c.set_permission_mode(None), "set_permission_mode.*mode"),
        (lambda c: c.rewind_files(None), "rewind_files.*user_message_id"),
        (lambda c: c.toggle_mcp_server("s", "yes"), "mcp_toggle.*got `str`.*enabled"),
        (lambda c: c.reconnect_mcp_server(5), "mcp_reconnect.*got `int`.*serverName"),
        (lambda c: c.stop_task(None), "stop_task.*task_id"),
        (lambda c: c.apply_flag_settings("x"), "apply_flag_settings.*settings"),
        (lambda c: c.set_max_thinking_tokens("many"), "set_max_thinking_tokens.*got `str`"),
        (lambda c: c.rename_session(5), "rename_session.*title"),
        (lambda c: c.cancel_prompt(5), "cancel_async_message.*message_uuid"),
        (lambda c: c.get_task_output(5), "get_task_output.*task_id"),
        (lambda c: c.close(timeout="soon"), "timeout must be a number of seconds of at least 0, got 'soon'"),
        (lambda c: c.close(timeout=-1), "timeout must be a number of seconds of at least 0, got -1"),
        (lambda c: c.close(timeout=math.nan), "timeout must be a number of seconds of at least 0"),
    ],
)
async def test_a_wrong_argument_is_refused_by_name_and_harms_nobody(agent, ask, problem):
    agent.begin().result("done").wait("eof")
    async with client_of(agent) as client:
        with pytest.raises(OptionsError, match=problem):
            await ask(client)
        await client.query("go")
        assert (await turn(client))[0] == "done"

    assert asked(agent) == []


async def test_what_json_cannot_hold_is_refused_and_harms_nobody(agent):
    async with client_of(agent.begin().result("done")) as client:
        with pytest.raises(OptionsError, match="must be JSON"):
            await client.apply_flag_settings({"model": object()})
        with pytest.raises(MessageParseError, match="must be JSON"):
            await client.query(prompts({"type": "user", "message": {"role": "user", "content": object()}}))
        await client.query("go")
        assert (await turn(client))[0] == "done"


async def prompts(*frames):
    for frame in frames:
        yield frame


async def test_an_answer_of_another_shape_is_told(agent):
    reply = '{"type":"control_response","response":{"subtype":"success","request_id":"ID","response":[1]}}\n'
    agent.wait("init").wait("mute:get_settings").stall("asked").wait("eof")
    async with client_of(agent) as client, anyio.create_task_group() as tasks:

        async def ask():
            with pytest.raises(MessageParseError):
                await client.get_settings()

        tasks.start_soon(ask)
        frame = await agent.runs[0].frame("get_settings")
        client._live._router.feed(reply.replace("ID", frame["request_id"]).encode())
        agent.gate("asked").release()


# -- what the handshake has told


async def test_what_the_agent_told_at_the_handshake_can_be_listed(agent):
    info = {
        "commands": [{"name": "compact", "description": "", "argumentHint": ""}],
        "agents": [{"name": "helper", "description": ""}],
        "account": {"email": "a@example.org"},
    }
    async with client_of(agent.answer("initialize", info).wait("init").wait("eof")) as client:
        assert await client.list_commands() == info["commands"]
        assert await client.list_agents() == info["agents"]
        assert await client.account_info() == info["account"]


async def test_an_agent_that_tells_nothing_has_nothing(agent):
    async with client_of(agent.wait("init").wait("eof")) as client:
        assert await client.list_commands() == []
        assert await client.list_agents() == []
        assert await client.account_info() == {}


async def test_commands_that_came_with_a_plugin_are_listed_after_the_reload(agent):
    new = {"commands": [{"name": "new", "description": "", "argumentHint": ""}], "agents": []}
    agent.answer("initialize", {"commands": []}).answer("reload_plugins", new).wait("init").wait("eof")
    async with client_of(agent) as client:
        await client.reload_plugins()
        assert await client.list_commands() == new["commands"]


# -- prompts that wait


async def test_a_prompt_that_was_taken_back_is_not_waited_for(agent):
    agent.begin().wait("user").answer("cancel_async_message", {"cancelled": True})
    agent.wait("cancel_async_message").result("first").wait("user").init().result("third").wait("eof")

    async with client_of(agent) as client:
        await client.query("a")
        second = await client.query("b")
        assert await client.cancel_prompt(second)
        assert (await turn(client))[0] == "first"
        await client.query("c")
        assert (await turn(client))[0] == "third"

    assert asked(agent)[0]["message_uuid"] == agent.runs[0].frames_of("user")[1]["uuid"]


async def test_an_interrupt_that_cancels_leaves_no_prompt_to_wait_for(agent):
    agent.begin().wait("user").wait("mute:interrupt").stall("cancel")
    agent.result("", subtype="error_during_execution", is_error=True, user_message_uuids=["first"])
    agent.wait("user").init().result("third", user_message_uuids=["$PROMPT_UUID"]).wait("eof")

    async with client_of(agent) as client:
        await client.query(prompts(user("a", "first")))
        await client.query(prompts(user("b", "second")))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: client.interrupt(cancel_queued=True))
            frame = await agent.runs[0].frame("interrupt")
            client._live._router.feed(cancelled(frame["request_id"], "second"))
        agent.gate("cancel").release()
        await client.query("c")
        assert (await turn(client))[0] == "third"


def user(text, uuid):
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": text}}


def cancelled(request_id, uuid):
    body = f'{{"still_queued":[],"cancelled":["{uuid}"]}}'
    return (
        f'{{"type":"control_response","response":{{"subtype":"success","request_id":"{request_id}",'
        f'"response":{body}}}}}\n'
    ).encode()


async def test_a_prompt_that_still_waits_after_an_interrupt_is_answered(agent):
    agent.answer("interrupt", {"still_queued": ["second"]}).begin().wait("user").wait("interrupt")
    agent.result("", subtype="error_during_execution", is_error=True, user_message_uuids=["first"])
    agent.init().say("two").result("second", user_message_uuids=["second"]).wait("eof")

    async with client_of(agent) as client:
        await client.query(prompts(user("a", "first")))
        await client.query(prompts(user("b", "second")))
        await client.interrupt()
        assert await turn(client) == ("second", ["two"])


# -- tool servers of this program


def calculator(name="calc"):
    @tool("add", "adds", {"a": int, "b": int})
    async def add(arguments):
        return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}

    return create_sdk_mcp_server(name, tools=[add])


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
CALL["params"] = {"name": "add", "arguments": {"a": 2, "b": 3}}


async def test_a_server_of_this_program_can_be_added_and_serves_before_the_answer_comes(agent):
    agent.begin().wait("mute:mcp_set_servers").ask("m1", "mcp_message", server_name="calc", message=CALL)
    agent.wait("control_response").reply("mcp_set_servers", {"added": ["calc"], "removed": [], "errors": {}})
    agent.wait("eof")

    async with client_of(agent) as client:
        await client.query("go")
        assert (await client.set_mcp_servers({"calc": calculator()}))["added"] == ["calc"]

    (answer,) = agent.runs[0].frames_of("control_response")
    assert answer["response"]["response"]["mcp_response"]["result"]["content"][0]["text"] == "5"
    assert asked(agent)[0]["servers"] == {"calc": {"type": "sdk", "name": "calc"}}


async def test_servers_that_were_refused_do_not_serve(agent):
    agent.answer("mcp_set_servers", error="no").begin().wait("mcp_set_servers")
    agent.stall("refused").ask("m1", "mcp_message", server_name="calc", message=CALL)
    agent.wait("control_response").wait("eof")

    async with client_of(agent) as client:
        await client.query("go")
        with pytest.raises(ControlError):
            await client.set_mcp_servers({"calc": calculator()})
        agent.gate("refused").release()
        await agent.runs[0].frame("control_response")

    (answer,) = agent.runs[0].frames_of("control_response")
    reply = answer["response"]["response"]["mcp_response"]
    assert (reply["id"], reply["error"]["message"]) == (CALL["id"], "Server 'calc' not found")


@pytest.mark.parametrize("wrong", [{"s": 5}, {"s": {}}, {"s": {"type": "sdk", "instance": 5}}, 5])
async def test_what_is_no_server_is_refused_before_the_agent_is_asked(agent, wrong):
    async with client_of(agent.wait("init").wait("eof")) as client:
        with pytest.raises(OptionsError):
            await client.set_mcp_servers(wrong)

    assert asked(agent) == []


async def test_a_request_that_waits_is_failed_when_the_agent_dies(agent):
    async with client_of(agent.wait("init").wait("mute:list_models").exit(5)) as client:
        with pytest.raises(AgentExitedError) as caught:
            await client.list_models()

    assert caught.value.exit_code == 5
