"""In-process tools: their schemas, their server, and what comes of a call."""

import dataclasses
import enum
import logging
import subprocess
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Annotated, Any, Literal, Optional, Union

import anyio
import pytest
import typing_extensions

from claude_wrapper.errors import OptionsError
from claude_wrapper.tool_schema import input_schema_of
from claude_wrapper.tool_server import tool_servers
from claude_wrapper.tools import SdkMcpTool, ToolAnnotations, create_sdk_mcp_server, tool

if sys.version_info >= (3, 11):
    from typing import NotRequired, Required, TypedDict
else:
    from typing_extensions import NotRequired, Required, TypedDict

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


class Point(TypedDict):
    a: int
    b: str


class Partial(TypedDict, total=False):
    a: int
    b: NotRequired[str]
    c: Required[float]


class Described(TypedDict):
    x: Annotated[str, "the x"]
    y: NotRequired[Optional[int]]  # noqa: UP045  # users write it both ways
    z: Annotated[NotRequired[int], "the z"]


class Nested(TypedDict):
    one: Point
    many: list[Point]
    fixed: typing_extensions.ReadOnly[int]


class Quoted(TypedDict):
    a: "NotRequired[int]"
    b: "Annotated[str, 'the b']"


class Tree(TypedDict):
    name: str
    children: "list[Tree]"


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"


@dataclasses.dataclass
class Size:
    width: int
    unit: str = "mm"


class Plain:
    pass


def fields(*optional, **properties):
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


AS_OFFICIAL = [
    ({}, {"type": "object", "properties": {}, "required": []}),
    (
        {"a": int, "b": str, "c": float, "d": bool, "e": list, "f": dict, "g": bytes},
        fields(
            a=INTEGER,
            b=TEXT,
            c={"type": "number"},
            d={"type": "boolean"},
            e={"type": "array"},
            f={"type": "object"},
            g=TEXT,
        ),
    ),
    (
        {"a": list[int], "b": list[list[float]], "c": dict[str, int]},
        fields(
            a={"type": "array", "items": INTEGER},
            b={"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            c={"type": "object"},
        ),
    ),
    (
        {
            "a": Optional[int],  # noqa: UP045  # likewise
            "b": Union[int, str],  # noqa: UP007  # likewise
            "c": int | None,
            "d": int | str,
            "e": list[str] | None,
        },
        fields(
            a=INTEGER,
            b={"anyOf": [INTEGER, TEXT]},
            c=INTEGER,
            d={"anyOf": [INTEGER, TEXT]},
            e={"type": "array", "items": TEXT},
        ),
    ),
    (
        {
            "a": Annotated[int, "the a"],
            "b": Annotated[str | None, "the b"],
            "c": Annotated[int, 5],
            "d": Annotated[int, 5, "later", "last"],
            "e": Optional[Annotated[int, "inner"]],  # noqa: UP045  # likewise
            "f": list[Annotated[int, "each"]],
        },
        fields(
            a={"type": "integer", "description": "the a"},
            b={"type": "string", "description": "the b"},
            c=INTEGER,
            d={"type": "integer", "description": "later"},
            e={"type": "integer", "description": "inner"},
            f={"type": "array", "items": {"type": "integer", "description": "each"}},
        ),
    ),
    (
        {"a": Point, "b": list[Point]},
        fields(a=fields(a=INTEGER, b=TEXT), b={"type": "array", "items": fields(a=INTEGER, b=TEXT)}),
    ),
    ({"a": Plain, "b": "int", "c": 5}, fields(a=TEXT, b=TEXT, c=TEXT)),
    (Point, fields(a=INTEGER, b=TEXT)),
    (Partial, fields("a", "b", a=INTEGER, b=TEXT, c={"type": "number"})),
    (
        Described,
        fields(
            "y",
            "z",
            x={"type": "string", "description": "the x"},
            y=INTEGER,
            z={"type": "integer", "description": "the z"},
        ),
    ),
    (
        Nested,
        {
            **fields(
                one=fields(a=INTEGER, b=TEXT),
                many={"type": "array", "items": fields(a=INTEGER, b=TEXT)},
                fixed=INTEGER,
            ),
            "required": ["fixed", "many", "one"],
        },
    ),
    (Plain, {"type": "object", "properties": {}}),
    (dict, {"type": "object", "properties": {}}),
    (str, {"type": "object", "properties": {}}),
    (
        {"type": "object", "properties": {"a": {"type": "number"}}},
        {"type": "object", "properties": {"a": {"type": "number"}}},
    ),
    ({"type": str, "properties": int}, fields(type=TEXT, properties=INTEGER)),
]
"""Sources and the schemas that the official SDK (0.2.189) makes of them."""

BETTER = [
    ({"a": Literal["x", "y"]}, fields(a={"type": "string", "enum": ["x", "y"]})),
    (
        {"a": Literal[1, 2], "b": Literal["x", 1]},
        fields(a={"type": "integer", "enum": [1, 2]}, b={"enum": ["x", 1]}),
    ),
    ({"a": Colour}, fields(a={"type": "string", "enum": ["r", "g"]})),
    ({"a": Any, "b": object}, fields(a={}, b={})),
    (
        {"a": tuple[int, ...], "b": set[str], "c": Sequence[int]},
        fields(
            a={"type": "array", "items": INTEGER},
            b={"type": "array", "items": TEXT},
            c={"type": "array", "items": INTEGER},
        ),
    ),
    ({"a": tuple[int, str]}, fields(a={"type": "array"})),
    ({"a": None}, fields(a={"type": "null"})),
    (
        {"a": {"x": int}, "b": {"type": "string", "minLength": 1}},
        fields(a=fields(x=INTEGER), b={"type": "string", "minLength": 1}),
    ),
    (Size, fields("unit", width=INTEGER, unit=TEXT)),
    ({"a": Size}, fields(a=fields("unit", width=INTEGER, unit=TEXT))),
    ({"type": "object"}, {"type": "object"}),
    ({"properties": {"a": INTEGER}}, {"type": "object", "properties": {"a": INTEGER}}),
    ({"anyOf": [{"required": ["a"]}]}, {"type": "object", "anyOf": [{"required": ["a"]}]}),
    (Quoted, fields("a", a=INTEGER, b={"type": "string", "description": "the b"})),
    (
        Tree,
        {
            **fields(name=TEXT, children={"type": "array", "items": {"type": "object"}}),
            "required": ["children", "name"],
        },
    ),
]
"""Sources of which the official SDK makes strings, or nothing that works."""


@pytest.mark.feature("CTOOL-01")
@pytest.mark.parametrize(("source", "schema"), [*AS_OFFICIAL, *BETTER])
def test_types_become_json_schemas(source, schema):
    assert input_schema_of("t", source) == schema


def test_a_schema_that_describes_no_object_or_is_no_json_is_refused_by_the_tools_name():
    with pytest.raises(OptionsError, match="'t' has the type 'string'"):
        input_schema_of("t", {"type": "string", "properties": {}})
    with pytest.raises(OptionsError, match="'t' holds what JSON cannot"):
        input_schema_of("t", {"type": "object", "properties": {"a": {"default": int}}})


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object", "properties": {"a": {"type": "str"}}}, "at /properties/a: the type 'str'"),
        (
            {"type": "object", "properties": {"a": {"type": ["string", "x"]}}},
            "at /properties/a: the type 'x'",
        ),
        ({"type": "object", "properties": {"a": "string"}}, "at /properties/a: a schema must be a dict"),
        ({"type": "object", "properties": ["a"]}, "'properties' must be a dict"),
        ({"type": "object", "required": "a"}, "'required' must be a list of names"),
        ({"type": "object", "required": [1]}, "'required' must be a list of names"),
        ({"type": "object", "properties": {"a": {"enum": "xy"}}}, "'enum' must be a list"),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "int"}}}},
            "at /properties/a/items: the type 'int' is none of array, boolean",
        ),
        ({"anyOf": [{"type": "object"}, 5]}, "at /anyOf/1: a schema must be a dict"),
        ({"properties": {}, "$defs": {"x": {"type": "float"}}}, "at /\\$defs/x: the type 'float'"),
    ],
)
def test_an_invalid_schema_is_named_when_the_server_is_made(schema, problem):
    @tool("t", "", schema)
    async def handler(_arguments):
        return {}

    with pytest.raises(OptionsError, match=f"the tool 't' is invalid.*{problem}"):
        create_sdk_mcp_server("s", tools=[handler])


async def bare(_arguments):
    return {}


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ([bare], "as a tool; decorate it: @tool"),
        ([{"name": "t"}], "'s' was given {'name': 't'} as a tool"),
        ({"t": bare}, "must be a list, got a dict"),
        ([SdkMcpTool("", "d", {}, bare)], "whose name is no text: ''"),
        ([SdkMcpTool(None, "d", {}, bare)], "whose name is no text: None"),
        ([SdkMcpTool("t", None, {}, bare)], "description of the tool 't' must be a text, got None"),
        ([SdkMcpTool("t", "d", {}, None)], "'t' has no function to call, but None"),
    ],
)
def test_what_is_no_tool_is_named_when_the_server_is_made(tools, problem):
    with pytest.raises(OptionsError, match=problem):
        create_sdk_mcp_server("s", tools=tools)


@tool("add", "Adds two numbers", {"a": float, "b": float})
async def add(arguments):
    return {"content": [{"type": "text", "text": f"{arguments['a'] + arguments['b']:g}"}]}


def server(*tools, **options):
    config = create_sdk_mcp_server("calc", tools=list(tools), **options)
    return tool_servers({"calc": config})["calc"]


def returning(result, schema=None):
    @tool("t", "", schema or {})
    async def handler(arguments):
        return result(arguments) if callable(result) else result

    return server(handler)


def request(method, params=None, number=1):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return message if params is None else {**message, "params": params}


async def call(served, name="t", **arguments):
    reply = await served.handle(request("tools/call", {"name": name, "arguments": arguments}))
    assert reply["jsonrpc"] == "2.0"
    assert reply["id"] == 1
    return reply["result"]


@pytest.mark.anyio
@pytest.mark.feature("CTOOL-01", "CTOOL-02")
async def test_a_recorded_conversation_is_answered_as_the_official_sdk_does():
    async def fail(_):
        return {"content": [{"type": "text", "text": "bad input"}], "is_error": True}

    async def boom(_):
        raise RuntimeError("kaput")

    number = {"type": "number"}
    one = {"type": "object", "properties": {"a": number}, "required": ["a"]}
    two = {"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}
    served = server(
        SdkMcpTool("add", "add", two, add.handler),
        SdkMcpTool("fail", "fail", one, fail),
        SdkMcpTool("boom", "boom", one, boom),
    )
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "agent", "version": "1"},
    }
    assert await served.handle(request("initialize", hello, 0)) == {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {
            "capabilities": {"tools": {"listChanged": False}},
            "protocolVersion": "2025-11-25",
            "serverInfo": {"name": "calc", "version": "1.0.0"},
        },
    }
    assert await served.handle({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert await served.handle(request("tools/list", number=1)) == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "tools": [
                {"name": "add", "description": "add", "inputSchema": two},
                {"name": "fail", "description": "fail", "inputSchema": one},
                {"name": "boom", "description": "boom", "inputSchema": one},
            ]
        },
    }
    params = {"name": "add", "arguments": {"a": 2, "b": 3}, "_meta": {"progressToken": 2}}
    assert await served.handle(request("tools/call", params, 2)) == {
        "jsonrpc": "2.0",
        "id": 2,
        "result": {"content": [{"type": "text", "text": "5"}], "isError": False},
    }
    for name, text in (("fail", "bad input"), ("boom", "kaput")):
        assert await call(served, name, a=1) == {"content": [{"type": "text", "text": text}], "isError": True}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("1999-01-01", "2025-11-25"),
        (None, "2025-11-25"),
    ],
)
async def test_a_known_protocol_version_is_kept_and_an_unknown_one_gets_the_newest(wanted, given):
    reply = await server(add).handle(request("initialize", {"protocolVersion": wanted}))
    assert reply["result"]["protocolVersion"] == given


@pytest.mark.anyio
async def test_what_is_no_call_gets_the_answers_of_the_protocol():
    served = server(add, version="2.3")
    assert (await served.handle(request("ping")))["result"] == {}
    for method in ("nope/x", "resources/list", "prompts/list", "logging/setLevel"):
        error = (await served.handle(request(method)))["error"]
        assert error == {"code": -32601, "message": "Method not found", "data": method}
    for params in ({}, {"name": 5}, {"name": "add", "arguments": [1]}):
        assert (await served.handle(request("tools/call", params)))["error"]["code"] == -32602
    assert (await served.handle(request("tools/call", ["add"])))["error"]["code"] == -32602
    assert (await served.handle({"jsonrpc": "2.0", "id": 7}))["error"]["code"] == -32600
    assert await served.handle({"jsonrpc": "2.0", "id": 7, "result": {}}) is None
    assert await served.handle({"jsonrpc": "2.0", "method": "notifications/anything"}) is None
    assert await call(served, "absent") == {
        "content": [{"type": "text", "text": "Tool 'absent' not found"}],
        "isError": True,
    }
    reply = await served.handle(
        request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, "text-id")
    )
    assert reply["id"] == "text-id"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"a": "1", "b": "x"}, "Input validation error: '1' is not of type 'integer'"),
        ({"a": 1}, "Input validation error: 'b' is a required property"),
        ({"a": "1"}, "Input validation error: 'b' is a required property"),
        ({}, "Input validation error: 'a' is a required property"),
    ],
)
async def test_arguments_that_do_not_fit_are_an_error_result_and_call_nothing(arguments, text):
    called = []
    served = returning(called.append, {"a": int, "b": str})
    assert await call(served, **arguments) == {"content": [{"type": "text", "text": text}], "isError": True}
    assert called == []


@pytest.mark.anyio
async def test_missing_arguments_are_no_arguments_and_further_ones_are_passed_on():
    served = returning(lambda arguments: {"content": repr(arguments)})
    reply = await served.handle(request("tools/call", {"name": "t", "arguments": None}))
    assert reply["result"]["content"] == [{"type": "text", "text": "{}"}]
    assert (await call(served, z=1))["content"][0]["text"] == "{'z': 1}"


@pytest.mark.anyio
async def test_a_schema_cannot_make_us_fetch_another():
    served = returning(
        {"content": []}, {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    )
    result = await call(served, a=1)
    assert result["isError"]
    assert "http://127.0.0.1:9/schema.json" in result["content"][0]["text"]


PASSED_ON = [
    {"type": "text", "text": "x", "annotations": {"audience": ["user"]}, "_meta": {"a": 1}},
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "T", "mimeType": "text/plain"}},
    {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}},
    {"type": "resource_link", "uri": "http://a/b", "name": "N", "description": "D"},
]


@pytest.mark.anyio
@pytest.mark.feature("CTOOL-03")
async def test_all_kinds_of_content_are_passed_on_as_they_are():
    assert await call(returning({"content": PASSED_ON})) == {"content": PASSED_ON, "isError": False}


@pytest.mark.anyio
async def test_structured_content_and_both_spellings_of_an_error_are_passed_on():
    content = [{"type": "text", "text": "x"}]
    result = await call(
        returning({"content": content, "structuredContent": {"a": 1}, "_meta": {"k": 1}, "more": 1})
    )
    assert result == {"content": content, "isError": False, "structuredContent": {"a": 1}, "_meta": {"k": 1}}
    for spelling in ("is_error", "isError"):
        assert (await call(returning({"content": content, spelling: True})))["isError"] is True


@pytest.mark.anyio
async def test_an_image_as_the_messages_api_has_it_is_understood():
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    result = await call(returning({"content": [{"type": "image", "source": source}]}))
    assert result["content"] == [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]


@pytest.mark.anyio
@pytest.mark.parametrize("block", [{"type": "weird", "x": 1}, {"text": "no type"}])
async def test_a_block_that_agents_refuse_is_left_out_with_a_warning(block, caplog):
    with caplog.at_level(logging.WARNING):
        result = await call(returning({"content": [block, {"type": "text", "text": "kept"}]}))
    assert result["content"] == [{"type": "text", "text": "kept"}]
    assert "left out" in caplog.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("result", "text"),
    [
        (None, "must return a dict with 'content', it returned NoneType"),
        ("hello", "must return a dict with 'content', it returned str"),
        ({"content": 5}, "must return its content as a list of blocks"),
        ({"content": ["s"]}, "returned a str as a block"),
        ({"content": [{"type": "text", "text": 5}]}, "returned a text block without text"),
    ],
)
async def test_a_result_that_is_none_tells_the_author_what_to_return(result, text):
    body = await call(returning(result))
    assert body["isError"]
    assert text in body["content"][0]["text"]


@pytest.mark.anyio
async def test_a_result_without_content_is_an_empty_one():
    for result in ({}, {"content": None}, {"content": []}):
        assert await call(returning(result)) == {"content": [], "isError": False}


@pytest.mark.anyio
@pytest.mark.feature("CTOOL-03")
@pytest.mark.parametrize(
    ("error", "text"),
    [(RuntimeError("kaput"), "kaput"), (KeyError("k"), "'k'"), (ValueError(), "ValueError")],
)
async def test_what_a_tool_raises_becomes_an_error_result(error, text):
    def fail(_):
        raise error

    assert await call(returning(fail)) == {"content": [{"type": "text", "text": text}], "isError": True}


@pytest.mark.anyio
async def test_a_function_that_is_not_async_is_called_too():
    served = server(SdkMcpTool("t", "", {}, lambda _: {"content": "done"}))
    assert (await call(served))["content"] == [{"type": "text", "text": "done"}]


@pytest.mark.anyio
@pytest.mark.feature("CTOOL-04")
async def test_calls_run_at_the_same_time_and_can_be_cancelled_one_by_one():
    begun = []
    gate = anyio.Event()

    @tool("wait", "", {"name": str})
    async def wait(arguments):
        begun.append(arguments["name"])
        await gate.wait()
        return {"content": arguments["name"]}

    served = server(wait)
    replies = {}

    async def ask(number, name):
        replies[number] = await served.handle(
            request("tools/call", {"name": "wait", "arguments": {"name": name}}, number)
        )

    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, 1, "one")
            tasks.start_soon(ask, 2, "two")
            await anyio.wait_all_tasks_blocked()
            assert sorted(begun) == ["one", "two"]
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
            assert await served.handle(cancelled) is None
            await anyio.wait_all_tasks_blocked()
            assert replies[1]["result"]["isError"]
            gate.set()
    assert replies[2]["result"]["content"] == [{"type": "text", "text": "two"}]


@pytest.mark.anyio
async def test_cancelling_the_task_of_a_call_is_no_result():
    @tool("wait", "", {})
    async def wait(_):
        await anyio.sleep_forever()

    with anyio.move_on_after(0.05) as scope:
        await call(server(wait), "wait")
    assert scope.cancelled_caught


@pytest.mark.anyio
async def test_a_tool_runs_in_the_context_of_its_call():
    variable = ContextVar("variable", default="unset")
    variable.set("of the caller")
    result = await call(returning(lambda _: {"content": variable.get()}))
    assert result["content"][0]["text"] == "of the caller"


async def listing(annotations):
    served = server(SdkMcpTool("t", "", {}, add.handler, annotations))
    return (await served.handle(request("tools/list")))["result"]["tools"][0]


@pytest.mark.anyio
async def test_annotations_are_listed_by_the_names_of_the_protocol():
    hints = {"title": "T", "readOnlyHint": True, "idempotentHint": False}
    for annotations in (
        ToolAnnotations(title="T", readOnlyHint=True, idempotentHint=False),
        ToolAnnotations(title="T", read_only_hint=True, idempotent_hint=False),
        {"title": "T", "readOnlyHint": True, "idempotentHint": False, "openWorldHint": None, "other": 1},
    ):
        assert (await listing(annotations))["annotations"] == hints
    large = await listing(ToolAnnotations(maxResultSizeChars=5))
    assert large["annotations"] == {}
    assert large["_meta"] == {"anthropic/maxResultSizeChars": 5}
    assert "annotations" not in await listing(None)


def test_annotations_can_be_read_by_both_spellings_and_compared():
    annotations = ToolAnnotations(readOnlyHint=True, destructiveHint=False, openWorldHint=True)
    assert annotations.read_only_hint is annotations.readOnlyHint is True
    assert annotations.destructiveHint is False
    assert annotations.openWorldHint is True
    assert annotations.idempotentHint is None
    assert annotations == ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=True)
    assert annotations != ToolAnnotations()
    assert (
        repr(annotations) == "ToolAnnotations(readOnlyHint=True, destructiveHint=False, openWorldHint=True)"
    )


def test_the_decorator_makes_a_tool_with_its_function():
    assert add.name == "add"
    assert add.description == "Adds two numbers"
    assert add.input_schema == {"a": float, "b": float}
    assert add.annotations is None


def test_a_server_is_an_entry_of_the_options():
    config = create_sdk_mcp_server("calc")
    assert config["type"] == "sdk"
    assert config["name"] == "calc"
    assert tool_servers({"mine": config, "other": {"command": "x"}}) == {"mine": config["instance"]}
    assert tool_servers("/path/of/servers.json") == tool_servers({}) == tool_servers(None) == {}


def test_two_tools_of_one_name_and_an_instance_that_is_no_server_are_refused():
    with pytest.raises(OptionsError, match="two tools named 'add'"):
        create_sdk_mcp_server("calc", tools=[add, add])
    with pytest.raises(OptionsError, match=r"mcp_servers\['s'\] has a object as its instance"):
        tool_servers({"s": {"type": "sdk", "name": "s", "instance": object()}})


def test_the_validator_is_loaded_on_the_first_call_only():
    program = """
import sys, anyio
from claude_wrapper.tools import create_sdk_mcp_server, tool
@tool("t", "", {"a": int})
async def t(arguments): return {"content": []}
served = create_sdk_mcp_server("s", tools=[t])["instance"]
print("jsonschema" in sys.modules, "mcp" in sys.modules)
anyio.run(served.handle, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {"a": 1}}})
print("jsonschema" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.split() == ["False", "False", "True"]
