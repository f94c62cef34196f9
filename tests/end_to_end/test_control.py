"""What callbacks, tools and interrupts do in whole runs."""

import anyio
import pytest

from claude_wrapper import (
    HookMatcher,
    create_sdk_mcp_server,
    query,
    tool,
)
from claude_wrapper.hook_matchers import HOOK_EVENTS
from claude_wrapper.testing import ScriptedModel, call, say

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


def rpc(number, method, params=None):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def tool_call(number, name, **arguments):
    return rpc(number, "tools/call", {"name": name, "arguments": arguments})


def answers(agent):
    return {
        frame["response"]["request_id"]: frame["response"].get("response", frame["response"])
        for frame in agent.runs[0].frames_of("control_response")
    }


@pytest.mark.feature("CTOOL-04", "STREAM-05")
@pytest.mark.parametrize("count", [0, 1, 3])
async def test_tools_are_served_after_a_text_prompt_as_long_as_the_agent_works(agent, options, count):
    @tool("slow", "", {})
    async def slow(_arguments):
        await anyio.sleep(0.3)
        return {"content": [{"type": "text", "text": "at last"}]}

    servers = {f"s{n}": create_sdk_mcp_server(f"s{n}", tools=[slow]) for n in range(count)}
    agent.wait("init").wait("user").init()
    for name in servers:
        agent.ask(f"{name} list", "mcp_message", server_name=name, message=rpc(1, "tools/list"))
        agent.wait("control_response")
        agent.ask(f"{name} call", "mcp_message", server_name=name, message=tool_call(2, "slow"))
        agent.wait("control_response")
    agent.result("last")

    messages = [m async for m in query(prompt="go", options=options(mcp_servers=servers))]

    assert messages[-1].result == "last"
    got = answers(agent)
    for name in servers:
        assert [t["name"] for t in got[f"{name} list"]["mcp_response"]["result"]["tools"]] == ["slow"]
        assert got[f"{name} call"]["mcp_response"]["result"]["content"][0]["text"] == "at last"


@pytest.mark.feature("CTOOL-04")
async def test_calls_that_the_agent_makes_at_once_run_at_once(agent, options):
    met = [anyio.Event(), anyio.Event()]

    @tool("meet", "Returns when the other one has come, too.", {"who": int})
    async def meet(arguments):
        mine = arguments["who"]
        met[mine].set()
        await met[1 - mine].wait()
        return {"content": [{"type": "text", "text": f"met {mine}"}]}

    agent.begin()
    for number in range(2):
        message = tool_call(number, "meet", who=number)
        agent.ask(f"q{number}", "mcp_message", server_name="s", message=message)
    agent.wait("control_response").wait("control_response").result()
    servers = {"s": create_sdk_mcp_server("s", tools=[meet])}

    [m async for m in query(prompt="go", options=options(mcp_servers=servers))]

    results = {key: reply["mcp_response"]["result"] for key, reply in answers(agent).items()}
    assert {key: result["content"][0]["text"] for key, result in results.items()} == {
        "q0": "met 0",
        "q1": "met 1",
    }


@pytest.mark.feature("CTOOL-03")
async def test_what_a_tool_returns_reaches_the_agent_unchanged(agent, options):
    content = [
        {"type": "text", "text": "x" * 60_000},
        {"type": "image", "data": "cGl4", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "file:///log", "name": "log", "description": "all of it"},
        {"type": "resource", "resource": {"uri": "memo://1", "mimeType": "text/plain", "text": "memo"}},
    ]

    @tool("all", "", {})
    async def everything(_arguments):
        return {"content": content, "is_error": True, "structuredContent": {"a": [1, None, "é"]}}

    agent.begin().ask("q", "mcp_message", server_name="s", message=tool_call(7, "all"))
    agent.wait("control_response").result()
    servers = {"s": create_sdk_mcp_server("s", tools=[everything])}

    [m async for m in query(prompt="go", options=options(mcp_servers=servers))]

    assert answers(agent)["q"]["mcp_response"] == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {"content": content, "isError": True, "structuredContent": {"a": [1, None, "é"]}},
    }


@pytest.mark.feature("HOOK-27")
@pytest.mark.parametrize("event", HOOK_EVENTS)
async def test_a_hook_of_every_event_is_told_to_the_agent_and_called(agent, options, event):
    seen = []

    async def hook(hook_input, tool_use_id, _context):
        seen.append((hook_input, tool_use_id))
        return {"continue_": True, "async_": False, "systemMessage": "noted"}

    given = {
        "hook_event_name": event,
        "session_id": "s",
        "agent_id": "a7",
        "agent_type": "Explore",
        "tool_use_id": "toolu_9",
    }
    agent.begin().ask("h", "hook_callback", callback_id="hook_0", input=given, tool_use_id="toolu_9")
    agent.wait("control_response").result()
    hooks = {event: [HookMatcher(matcher="Bash|Edit", hooks=[hook], timeout=5)]}

    [m async for m in query(prompt="go", options=options(hooks=hooks))]

    (told,) = agent.runs[0].frames_of("initialize")
    assert told["request"]["hooks"] == {
        event: [{"matcher": "Bash|Edit", "hookCallbackIds": ["hook_0"], "timeout": 5}]
    }
    # Whose call it is stands in what the hook is given.
    assert seen == [(given, "toolu_9")]
    assert answers(agent)["h"] == {"continue": True, "async": False, "systemMessage": "noted"}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.feature("RULE-19", "LOOP-22")
async def test_the_tools_option_is_a_real_filter_even_where_everything_is_allowed(own):
    with ScriptedModel([call("Bash", command="touch made"), say("no")]) as model:
        settings = own(model, tools=["Read"], permission_mode="bypassPermissions", env={"IS_SANDBOX": "1"})
        messages = [m async for m in query(prompt="go", options=settings)]

    assert messages[-1].result == "no"
    assert not (own.project / "made").exists()
    assert [offered["name"] for offered in model.requests[0].body["tools"]] == ["Read"]
    (result,) = model.requests[-1].body["messages"][-1]["content"]
    assert result["is_error"] is True


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.feature("LOOP-22")
async def test_an_allow_list_hides_no_tool(own):
    with ScriptedModel([say("ok")]) as model:
        [m async for m in query(prompt="go", options=own(model, allowed_tools=["Read"]))]

    assert {"Read", "Bash", "Write"} <= {offered["name"] for offered in model.requests[0].body["tools"]}
