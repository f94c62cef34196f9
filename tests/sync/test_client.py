"""ClaudeSDKClient of the blocking door: the same methods, each waiting for its end."""

import inspect
import threading

import pytest

from claude_wrapper import (
    AssistantMessage,
    CLIConnectionError,
    ControlError,
    PermissionResultAllow,
    ProcessError,
    create_sdk_mcp_server,
    tool,
)
from claude_wrapper import ClaudeSDKClient as AsyncClient
from claude_wrapper import query as async_query
from claude_wrapper.sync import ClaudeSDKClient, query


def turn(client):
    messages = list(client.receive_response())
    return messages[-1].result, [
        b.text for m in messages if isinstance(m, AssistantMessage) for b in m.content
    ]


def public(cls):
    return {name: member for name, member in inspect.getmembers(cls) if not name.startswith("_")}


def test_it_has_the_methods_of_the_async_one_with_the_same_parameters():
    ours, theirs = public(ClaudeSDKClient), public(AsyncClient)

    assert set(ours) == set(theirs)
    for name, member in theirs.items():
        if inspect.isfunction(member):
            wanted = inspect.signature(member).parameters
            got = inspect.signature(ours[name]).parameters
            assert [(p.name, p.kind, p.default) for p in got.values()] == [
                (p.name, p.kind, p.default) for p in wanted.values()
            ], name
            assert not inspect.iscoroutinefunction(ours[name])
            assert ours[name].__doc__, name
    assert list(inspect.signature(query).parameters) == list(inspect.signature(async_query).parameters)


def test_turns_follow_each_other_in_one_process(agent, options):
    agent.begin().say("one").result("first").wait("user").init().say("two").result("second")

    with ClaudeSDKClient(options()) as client:
        assert client.pid == agent.runs[0].pid
        client.query("a")
        assert turn(client) == ("first", ["one"])
        client.query([{"type": "user", "message": {"role": "user", "content": "b"}}])
        assert turn(client) == ("second", ["two"])

    assert client.pid is None
    agent.runs[0].wait_gone()


def test_a_prompt_may_come_with_connect_and_a_second_connect_starts_anew(agent, options):
    agent.begin().result("done").wait("eof")
    client = ClaudeSDKClient(options())

    client.connect("go")
    assert turn(client)[0] == "done"
    client.connect("go")
    assert turn(client)[0] == "done"
    client.disconnect()
    client.disconnect()

    assert len(agent.runs) == 2
    for run in agent.runs:
        run.wait_gone()


def test_what_is_asked_of_the_agent_is_answered(agent, options):
    agent.answer("mcp_status", {"mcpServers": []}).answer("get_context_usage", {"totalTokens": 3})
    agent.answer("set_model", error="no such model").wait("init").wait("eof")

    with ClaudeSDKClient(options()) as client:
        assert client.get_mcp_status() == {"mcpServers": []}
        assert client.get_context_usage() == {"totalTokens": 3}
        client.set_permission_mode("plan")
        client.rewind_files("u")
        client.toggle_mcp_server("s", False)
        client.reconnect_mcp_server("s")
        client.stop_task("t")
        assert isinstance(client.get_server_info(), dict)
        with pytest.raises(ControlError, match="no such model"):
            client.set_model("x")

    asked = [frame["request"] for frame in agent.runs[0].frames_of("control_request")]
    assert {"subtype": "set_permission_mode", "mode": "plan"} in asked
    assert {"subtype": "mcp_toggle", "serverName": "s", "enabled": False} in asked


def test_one_thread_may_read_while_another_interrupts(agent, options, aside):
    agent.begin().say("hm").wait("interrupt").result("", subtype="error_during_execution", is_error=True)
    agent.wait("eof")
    reading = threading.Event()
    results = []

    with ClaudeSDKClient(options()) as client:
        client.query("go")

        def read():
            for message in client.receive_response():
                reading.set()
                results.append(message)

        reader = aside(read)
        assert reading.wait(40)
        client.interrupt()
        reader.join(40)

    assert results[-1].subtype == "error_during_execution"


def test_closing_ends_an_iteration_in_another_thread(agent, options, aside):
    agent.begin().say("hm").stall("never")
    client = ClaudeSDKClient(options())
    client.connect("go")
    reading, ended = threading.Event(), threading.Event()

    def read():
        for _ in client.receive_messages():
            reading.set()
        ended.set()

    aside(read)
    assert reading.wait(40)
    client.close(timeout=0)

    assert ended.wait(40)
    agent.runs[0].wait_gone()


def test_a_killed_agent_is_told_to_the_thread_that_reads(agent, options):
    agent.begin().say("hm").stall("never")
    with ClaudeSDKClient(options()) as client:
        client.query("go")
        messages = client.receive_messages()
        next(messages)
        client.kill()
        with pytest.raises(ProcessError):
            list(messages)
        with pytest.raises(ProcessError):
            client.query("again")


def test_a_plain_callback_may_use_the_client(agent, options):
    def decide(*_):
        client.set_permission_mode("acceptEdits")
        return PermissionResultAllow()

    agent.begin().ask("r1", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result(
        "done"
    )
    with ClaudeSDKClient(options(can_use_tool=decide)) as client:
        client.query("go")
        assert turn(client)[0] == "done"

    kinds = [frame.get("request", frame)["subtype"] for frame in agent.runs[0].frames_of("control_request")]
    assert kinds == ["initialize", "set_permission_mode"]


def test_servers_that_are_set_later_may_have_plain_tools(agent, options):
    server = create_sdk_mcp_server("s", tools=[tool("where", "w", {})(where_it_runs)])
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "where"}}
    agent.answer("mcp_set_servers", {"added": ["s"], "removed": [], "errors": {}}).wait("init").wait("user")
    agent.init().ask("r1", "mcp_message", server_name="s", message=message).wait("control_response").result()
    with ClaudeSDKClient(options()) as client:
        client.set_mcp_servers({"s": server})
        client.query("go")
        turn(client)

    answer = agent.runs[0].frames_of("control_response")[0]["response"]["response"]["mcp_response"]
    assert "worker" in answer["result"]["content"][0]["text"]


def where_it_runs(_):
    return {"content": [{"type": "text", "text": threading.current_thread().name}]}


def test_the_state_of_the_agent_can_be_seen(agent, options):
    agent.begin(session_id="told").result("done", session_id="told").wait("eof").exit(0)
    client = ClaudeSDKClient(options(resume="fixed"))
    assert (client.alive, client.session_id) == (False, "fixed")
    with client:
        client.query("go")
        turn(client)
        assert (client.alive, client.session_id) == (True, "told")
    assert not client.alive


def test_a_blocking_call_in_an_async_callback_is_refused_instead_of_waiting_for_itself(agent, options):
    async def decide(*_):
        client.interrupt()
        return PermissionResultAllow()

    agent.begin().ask("r1", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result(
        "done"
    )
    with ClaudeSDKClient(options(can_use_tool=decide)) as client:
        client.query("go")
        turn(client)

    assert "in an async callback" in agent.runs[0].frames_of("control_response")[0]["response"]["error"]


def test_ctrl_c_leaves_one_call_and_the_conversation_goes_on(agent, options, ctrl_c):
    agent.begin().stall("answer").say("late").result("done").wait("eof")

    with ClaudeSDKClient(options()) as client:
        client.query("go")
        messages = client.receive_response()
        next(messages)
        ctrl_c(agent.gate("answer").wait)
        with pytest.raises(KeyboardInterrupt):
            next(messages)
        agent.gate("answer").release()
        assert turn(client) == ("done", ["late"])


def test_calls_without_a_connection_say_so(options):
    client = ClaudeSDKClient(options())
    for call in (client.interrupt, client.receive_messages, client.kill, lambda: client.query("x")):
        with pytest.raises(CLIConnectionError, match="Not connected"):
            call()


def test_an_iteration_that_outlives_its_client_is_over(agent, options):
    agent.begin().result("done").wait("eof")
    with ClaudeSDKClient(options()) as client:
        client.query("go")
        messages = client.receive_messages()
        next(messages)

    assert list(messages) == []


def test_several_clients_run_side_by_side(agent, options):
    agent.begin().result("done").wait("eof")
    clients = [ClaudeSDKClient(options()) for _ in range(3)]
    for client in clients:
        client.connect("go")
    assert [turn(client)[0] for client in clients] == ["done"] * 3
    for client in clients:
        client.disconnect()
