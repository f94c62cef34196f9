"""Servers that a user wrote with the `mcp` package, of either major version, as servers in this program."""

# ruff: noqa: ARG001  # handlers take what the package passes

import importlib.metadata
import sys
import textwrap
from contextlib import asynccontextmanager

import anyio
import mcp.types as t
import pytest
from mcp.server import Server

from claude_wrapper import ClaudeAgentOptions, ClaudeSDKClient, OptionsError, ResultMessage, query
from claude_wrapper.testing import ScriptedModel, call, say

FIRST_MAJOR = int(importlib.metadata.version("mcp").partition(".")[0]) < 2

if FIRST_MAJOR:
    from mcp.server.fastmcp import FastMCP as Decorated
else:
    from mcp.server.mcpserver import MCPServer as Decorated

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


TOOLS = ["echo", "wait", "sample"]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SAMPLING = {
    "messages": [t.SamplingMessage(role="user", content=t.TextContent(type="text", text="?"))],
    "max_tokens": 10,
}


class Facts:
    """What the server was seen to do."""

    def __init__(self):
        self.opened = 0
        self.closed = 0
        self.running = anyio.Event()
        self.cancelled = anyio.Event()

    @asynccontextmanager
    async def lifespan(self, server):
        self.opened += 1
        try:
            yield self
        finally:
            self.closed += 1

    async def call(self, session, name, arguments):
        match name:
            case "echo":
                picture = t.ImageContent(type="image", data="cGl4", mimeType="image/png")
                link = t.ResourceLink(type="resource_link", name="log", uri="file:///log")
                return [t.TextContent(type="text", text=arguments["text"]), picture, link]
            case "wait":
                self.running.set()
                try:
                    await anyio.sleep_forever()
                finally:
                    self.cancelled.set()
            case "sample":
                try:
                    await session.create_message(**SAMPLING)
                except Exception as error:  # noqa: BLE001  # whatever the package makes of the refusal
                    return [t.TextContent(type="text", text=f"refused: {error}")]
        raise ValueError(f"no {name}")


def server_of_first_major(facts):
    server = Server("mine", version="3.1", lifespan=facts.lifespan)

    @server.list_tools()
    async def tools():
        return [t.Tool(name=name, description=name, inputSchema=SCHEMA) for name in TOOLS]

    @server.call_tool(validate_input=False)
    async def call_tool(name, arguments):
        return await facts.call(server.request_context.session, name, arguments)

    @server.list_resources()
    async def resources():
        return [t.Resource(uri="memo://one", name="one")]

    @server.read_resource()
    async def read(uri):
        return f"text of {uri}"

    @server.list_prompts()
    async def prompts():
        return [t.Prompt(name="greet", arguments=[t.PromptArgument(name="who")])]

    @server.get_prompt()
    async def prompt(name, arguments):
        text = t.TextContent(type="text", text=f"Greet {arguments['who']}")
        return t.GetPromptResult(messages=[t.PromptMessage(role="user", content=text)])

    return server


def server_of_second_major(facts):
    async def tools(context, params):
        return t.ListToolsResult(
            tools=[t.Tool(name=name, description=name, input_schema=SCHEMA) for name in TOOLS]
        )

    async def call_tool(context, params):
        try:
            content = await facts.call(context.session, params.name, params.arguments)
        except ValueError as error:
            text = t.TextContent(type="text", text=str(error))
            return t.CallToolResult(content=[text], is_error=True)
        return t.CallToolResult(content=content)

    async def resources(context, params):
        return t.ListResourcesResult(resources=[t.Resource(uri="memo://one", name="one")])

    async def read(context, params):
        text = t.TextResourceContents(uri=params.uri, text=f"text of {params.uri}")
        return t.ReadResourceResult(contents=[text])

    async def prompts(context, params):
        return t.ListPromptsResult(prompts=[t.Prompt(name="greet", arguments=[t.PromptArgument(name="who")])])

    async def prompt(context, params):
        text = t.TextContent(type="text", text=f"Greet {params.arguments['who']}")
        return t.GetPromptResult(messages=[t.PromptMessage(role="user", content=text)])

    return Server(
        "mine",
        version="3.1",
        lifespan=facts.lifespan,
        on_list_tools=tools,
        on_call_tool=call_tool,
        on_list_resources=resources,
        on_read_resource=read,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
    )


def served(facts):
    return server_of_first_major(facts) if FIRST_MAJOR else server_of_second_major(facts)


def config(instance):
    return {"mine": {"type": "sdk", "name": "mine", "instance": instance}}


def options(agent, instance, **more):
    return ClaudeAgentOptions(cli_path=agent.path, mcp_servers=config(instance), **more)


INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "agent", "version": "1"},
}


def asking(agent, number, method, params=None, *, wait=True):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    if number is None:
        del message["id"]
    agent.ask(f"q{number}{method}", "mcp_message", server_name="mine", message=message)
    return agent.wait("control_response") if wait else agent


def greeted(agent):
    agent.wait("init").wait("user").init()
    asking(agent, 0, "initialize", INITIALIZE)
    return asking(agent, None, "notifications/initialized")


def replies(agent):
    bodies = [f["response"] for f in agent.runs[0].frames_of("control_response")]
    assert all(body["subtype"] == "success" for body in bodies), bodies
    return {body["request_id"]: body["response"]["mcp_response"] for body in bodies}


async def run(agent, instance, **more):
    return [m async for m in query(prompt="go", options=options(agent, instance, **more))]


@pytest.mark.feature("CTOOL-02")
async def test_its_tools_resources_and_prompts_are_served(agent):
    greeted(agent)
    asking(agent, 1, "tools/list")
    asking(agent, 2, "tools/call", {"name": "echo", "arguments": {"text": "hi"}})
    asking(agent, 3, "resources/list")
    asking(agent, 4, "resources/read", {"uri": "memo://one"})
    asking(agent, 5, "prompts/list")
    asking(agent, 6, "prompts/get", {"name": "greet", "arguments": {"who": "Ada"}})
    asking(agent, 7, "ping").result()
    facts = Facts()

    await run(agent, served(facts))

    got = replies(agent)
    hello = got["q0initialize"]["result"]
    assert hello["serverInfo"]["name"] == "mine"
    assert hello["serverInfo"]["version"] == "3.1"
    assert hello["protocolVersion"] == "2025-06-18"
    assert {"tools", "resources", "prompts"} <= set(hello["capabilities"])
    assert got["qNonenotifications/initialized"] == {"jsonrpc": "2.0", "result": {}}
    listed = got["q1tools/list"]["result"]["tools"]
    assert [(tool["name"], tool["inputSchema"]) for tool in listed] == [(name, SCHEMA) for name in TOOLS]
    result = got["q2tools/call"]["result"]
    assert [(b["type"], b.get("text") or b.get("data") or b.get("uri")) for b in result["content"]] == [
        ("text", "hi"),
        ("image", "cGl4"),
        ("resource_link", "file:///log"),
    ]
    assert result.get("isError") in {None, False}
    assert got["q3resources/list"]["result"]["resources"] == [{"uri": "memo://one", "name": "one"}]
    assert got["q4resources/read"]["result"]["contents"][0]["text"] == "text of memo://one"
    assert got["q5prompts/list"]["result"]["prompts"] == [{"name": "greet", "arguments": [{"name": "who"}]}]
    assert got["q6prompts/get"]["result"]["messages"][0]["content"] == {"type": "text", "text": "Greet Ada"}
    assert got["q7ping"]["result"] == {}
    assert (facts.opened, facts.closed) == (1, 1)


@pytest.mark.feature("CTOOL-03")
async def test_what_its_tool_raises_is_an_error_result(agent):
    greeted(agent)
    asking(agent, 1, "tools/call", {"name": "absent", "arguments": {}}).result()

    await run(agent, served(Facts()))

    result = replies(agent)["q1tools/call"]["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == "no absent"


async def test_what_it_does_not_know_is_refused_in_the_words_of_the_protocol(agent):
    greeted(agent)
    asking(agent, 1, "nonsense/list").result()

    await run(agent, served(Facts()))

    assert "error" in replies(agent)["q1nonsense/list"]


@pytest.mark.feature("CTOOL-04")
async def test_its_calls_run_at_the_same_time(agent):
    greeted(agent)
    asking(agent, 1, "tools/call", {"name": "wait", "arguments": {}}, wait=False)
    asking(agent, 2, "tools/call", {"name": "echo", "arguments": {"text": "quick"}}, wait=True).result()

    await run(agent, served(Facts()))

    assert replies(agent)["q2tools/call"]["result"]["content"][0]["text"] == "quick"


async def test_a_call_that_the_agent_takes_back_is_cancelled_in_the_server(agent):
    greeted(agent)
    asking(agent, 1, "tools/call", {"name": "wait", "arguments": {}}, wait=False)
    agent.stall("asked").emit({"type": "control_cancel_request", "request_id": "q1tools/call"})
    agent.stall("taken back").result()
    facts = Facts()

    async with ClaudeSDKClient(options(agent, served(facts))) as client:
        await client.query("go")
        await facts.running.wait()
        agent.gate("asked").release()
        await facts.cancelled.wait()
        agent.gate("taken back").release()
        messages = [m async for m in client.receive_response()]

    assert isinstance(messages[-1], ResultMessage)
    assert "q1tools/call" not in replies(agent)


async def test_a_call_that_never_ends_does_not_outlive_its_conversation(agent):
    greeted(agent)
    asking(agent, 1, "tools/call", {"name": "wait", "arguments": {}}, wait=False).result().wait("eof")
    facts = Facts()

    async with ClaudeSDKClient(options(agent, served(facts))) as client:
        await client.query("go")
        await facts.running.wait()

    assert facts.cancelled.is_set()
    assert (facts.opened, facts.closed) == (1, 1)


async def test_what_it_asks_of_the_agent_is_refused_and_keeps_nobody_waiting(agent):
    greeted(agent)
    asking(agent, 1, "tools/call", {"name": "sample", "arguments": {}}).result()

    await run(agent, served(Facts()))

    assert replies(agent)["q1tools/call"]["result"]["content"][0]["text"].startswith("refused: ")


async def test_a_second_greeting_begins_a_session_anew(agent):
    greeted(agent)
    asking(agent, 0, "initialize", INITIALIZE)
    asking(agent, None, "notifications/initialized")
    asking(agent, 1, "tools/call", {"name": "echo", "arguments": {"text": "again"}}).result()
    facts = Facts()

    await run(agent, served(facts))

    assert replies(agent)["q1tools/call"]["result"]["content"][0]["text"] == "again"
    assert (facts.opened, facts.closed) == (2, 2)


async def test_one_that_fails_at_its_start_says_why_to_each_request(agent, caplog):
    facts = Facts()

    async def database():
        raise OSError("no database")

    @asynccontextmanager
    async def broken(server):
        yield await database()

    facts.lifespan = broken
    greeted(agent)
    asking(agent, 1, "tools/list").result()

    await run(agent, served(facts))

    assert "no database" in replies(agent)["q1tools/list"]["error"]["message"]
    assert "the server mine of the mcp package failed" in caplog.text


async def test_two_conversations_have_a_session_each(agent):
    greeted(agent)
    asking(agent, 1, "tools/call", {"name": "echo", "arguments": {"text": "hi"}}).result()
    facts = Facts()
    instance = served(facts)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, agent, instance)
        tasks.start_soon(run, agent, instance)

    assert (facts.opened, facts.closed) == (2, 2)


async def test_it_may_be_added_while_the_agent_runs(agent):
    agent.wait("init").wait("mute:mcp_set_servers")
    asking(agent, 0, "initialize", INITIALIZE)
    agent.reply("mcp_set_servers", {"added": ["mine"], "removed": [], "errors": {}}).wait("eof")

    async with ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path)) as client:
        answer = await client.set_mcp_servers(config(served(Facts())))

    assert answer["added"] == ["mine"]
    assert replies(agent)["q0initialize"]["result"]["serverInfo"]["name"] == "mine"


async def test_one_that_is_named_again_goes_on_with_its_session(agent):
    greeted(agent).stall("greeted").wait("mcp_set_servers")
    asking(agent, 1, "tools/call", {"name": "echo", "arguments": {"text": "still there"}}).result().wait(
        "eof"
    )
    facts = Facts()
    instance = served(facts)

    async with ClaudeSDKClient(options(agent, instance)) as client:
        await client.query("go")
        await agent.gate("greeted").reached()
        agent.gate("greeted").release()
        await client.set_mcp_servers(config(instance))
        [m async for m in client.receive_response()]

    result = replies(agent)["q1tools/call"]["result"]
    assert result["content"][0]["text"] == "still there"
    assert facts.opened == 1


def decorated():
    server = Decorated("mine")

    @server.tool()
    def add(a: int, b: int = 2) -> int:
        """Adds."""
        return a + b

    @server.resource("memo://one")
    def one() -> str:
        return "first"

    @server.prompt()
    def greet(who: str) -> str:
        return f"Greet {who}"

    return server


async def test_a_server_of_decorated_functions_serves_too(agent):
    greeted(agent)
    asking(agent, 1, "tools/list")
    asking(agent, 2, "tools/call", {"name": "add", "arguments": {"a": 1}})
    asking(agent, 3, "resources/read", {"uri": "memo://one"})
    asking(agent, 4, "prompts/get", {"name": "greet", "arguments": {"who": "Ada"}}).result()

    await run(agent, decorated())

    got = replies(agent)
    (tool,) = got["q1tools/list"]["result"]["tools"]
    assert (tool["name"], tool["description"], tool["inputSchema"]["required"]) == ("add", "Adds.", ["a"])
    assert got["q2tools/call"]["result"]["structuredContent"] == {"result": 3}
    assert got["q3resources/read"]["result"]["contents"][0]["text"] == "first"
    assert got["q4prompts/get"]["result"]["messages"][0]["content"]["text"] == "Greet Ada"


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_our_agent_calls_its_tools(tmp_path):
    env = {"HOME": str(tmp_path)}
    with ScriptedModel([call("mcp__mine__add", a=40), say("42.")]) as model:
        settings = ClaudeAgentOptions(
            mcp_servers=config(decorated()),
            allowed_tools=["mcp__mine__add"],
            env={**model.environment(), **env},
            cwd=tmp_path,
            setting_sources=[],
        )
        messages = [m async for m in query(prompt="40 + 2?", options=settings)]

    assert messages[-1].result == "42."
    (block,) = model.requests[-1].body["messages"][-1]["content"]
    assert "42" in str(block["content"])


async def test_what_is_no_server_is_refused_by_name(agent):
    with pytest.raises(OptionsError, match=r"mcp_servers\['mine'\] has a dict as its instance"):
        await run(agent, {"a": 1})


async def test_the_package_is_not_imported_without_a_server_of_it():
    program = """
        import sys
        import claude_wrapper
        from claude_wrapper import ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool
        from claude_wrapper.tool_server import tool_servers

        @tool("t", "d", {"a": int})
        async def t(args):
            return {"content": []}

        tool_servers({"s": create_sdk_mcp_server("s", tools=[t])})
        print(sorted(name for name in sys.modules if name.partition(".")[0] in {"mcp", "mcp_types", "pydantic"}))
    """
    done = await anyio.run_process([sys.executable, "-c", textwrap.dedent(program)])
    assert done.stdout.strip() == b"[]"


async def test_a_request_before_the_greeting_is_answered_by_an_error_and_the_greeting_still_works(agent):
    agent.wait("init").wait("user").init()
    asking(agent, 5, "tools/list")
    asking(agent, 0, "initialize", INITIALIZE)
    asking(agent, None, "notifications/initialized")
    asking(agent, 1, "tools/list").result()

    await run(agent, served(Facts()))

    got = replies(agent)
    assert "error" in got["q5tools/list"]
    assert [tool["name"] for tool in got["q1tools/list"]["result"]["tools"]] == TOOLS


@pytest.mark.parametrize("method", ["", "no/such", 5, None])
async def test_messages_of_a_wrong_shape_cost_an_answer_and_not_the_session(agent, method):
    greeted(agent)
    message = {"jsonrpc": "2.0", "id": 9, "method": method, "params": {}}
    agent.ask("odd", "mcp_message", server_name="mine", message=message).wait("control_response")
    asking(agent, 1, "tools/list").result()

    await run(agent, served(Facts()))

    answers = {
        f["response"]["request_id"]: f["response"] for f in agent.runs[0].frames_of("control_response")
    }
    odd = answers["odd"]
    assert odd["subtype"] == "error" or "error" in odd["response"]["mcp_response"]
    listed = answers["q1tools/list"]["response"]["mcp_response"]["result"]["tools"]
    assert [tool["name"] for tool in listed] == TOOLS
