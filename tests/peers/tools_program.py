"""Declares the same tools with one package or the other, serves them to an agent that asks, and prints its answers.

Arguments: the package, and the agent: a launcher of this same file, which then plays it.
"""

import importlib
import json
import sys
from typing import Annotated, Any, Optional, TypedDict, Union

import anyio

if sys.version_info >= (3, 11):
    from typing import NotRequired, Required
else:
    from typing_extensions import NotRequired, Required


class Point(TypedDict):
    x: int
    y: NotRequired[float]


class Loose(TypedDict, total=False):
    a: str
    b: Required[int]


class Deep(TypedDict):
    """What goes deeper."""

    name: Annotated[str, "the name"]
    points: list[Point]
    maybe: Optional[int]  # noqa: UP045  # as users write it
    either: Union[int, str]  # noqa: UP007  # likewise


SCHEMAS = {
    "plain": {"a": int, "b": str, "c": float, "d": bool},
    "lists": {"a": list[int], "b": dict[str, int], "c": list},
    "unions": {"a": int | None, "b": int | str},
    "annotated": {"a": Annotated[int, "the a"], "b": Annotated[str | None, "the b"]},
    "empty": {},
    "point": Point,
    "loose": Loose,
    "deep": Deep,
    "json": {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 1}, "b": {"enum": ["x", "y"]}},
        "required": ["a"],
        "additionalProperties": False,
    },
}

TEXT = {"type": "text", "text": "hi"}
RESULTS = {
    "text": {"content": [TEXT]},
    "two texts": {"content": [TEXT, {"type": "text", "text": "ho"}]},
    "image": {"content": [{"type": "image", "data": "cGl4", "mimeType": "image/png"}]},
    "failed": {"content": [TEXT], "is_error": True},
    "no content": {},
    "empty content": {"content": []},
    "link": {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a", "description": "the a"}]},
    "text resource": {"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}]},
    "blob resource": {"content": [{"type": "resource", "resource": {"uri": "file:///a", "blob": "cGl4"}}]},
    "audio": {"content": [{"type": "audio", "data": "cGl4", "mimeType": "audio/wav"}]},
    "structured": {"content": [TEXT], "structuredContent": {"a": 1}},
    "camel failed": {"content": [TEXT], "isError": True},
    "unknown block": {"content": [{"type": "hologram"}, TEXT]},
    "text content": {"content": "hi"},
    "none": None,
    "string": "hi",
    "list": [TEXT],
    "block that is no dict": {"content": ["hi"]},
    "text that is none": {"content": [{"type": "text", "text": 5}]},
}
FAILURES = {
    "value": ValueError("no luck"),
    "bare": ValueError(),
    "key": KeyError("k"),
    "system": OSError(2, "gone"),
}

ARGUMENTS = {
    "plain": [
        {"a": 1, "b": "x", "c": 1.5, "d": True},
        {"a": "1", "b": "x", "c": 1, "d": True},
        {"a": 1},
        {},
        None,
    ],
    "json": [{"a": 1}, {"a": 0}, {"a": 1, "z": 2}, {"a": 1, "b": "z"}],
    "point": [{"x": 1}, {"x": 1, "y": 2}, {"y": 2.5}, {"x": 1, "more": 1}],
    "deep": [
        {"name": "n", "points": [{"x": 1}], "maybe": 1, "either": "s"},
        {"name": "n", "points": [{}], "maybe": 1, "either": 2},
    ],
}


def declared(package):
    made = []
    for name, schema in SCHEMAS.items():

        @package.tool(name, f"takes {name}", schema)
        async def taking(arguments):
            return {"content": [{"type": "text", "text": json.dumps(arguments, sort_keys=True)}]}

        made.append(taking)
    for name, result in RESULTS.items():
        made.append(returning(package, name, result))
    for name, error in FAILURES.items():
        made.append(raising(package, name, error))
    hints = package.ToolAnnotations(
        title="A title", readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
    )

    @package.tool("hinted", "has hints", {}, annotations=hints)
    async def hinted(_arguments):
        return {"content": []}

    @package.tool("large", "has large results", {}, annotations=package.ToolAnnotations(maxResultSizeChars=5))
    async def large(_arguments):
        return {"content": []}

    return [*made, hinted, large]


def returning(package, name, result):
    @package.tool(f"gives {name}", "", {})
    async def give(_arguments):
        return result

    return give


def raising(package, name, error):
    @package.tool(f"raises {name}", "", {})
    async def fail(_arguments):
        raise error

    return fail


async def serve(package):
    server = package.create_sdk_mcp_server("s", version="2.0", tools=declared(package))
    answers = []
    options = package.ClaudeAgentOptions(
        cli_path=sys.argv[2], mcp_servers={"s": server}, stderr=lambda line: answers.append(json.loads(line))
    )
    async for _ in package.query(prompt="go", options=options):
        pass
    json.dump({f"{number} {what}": answer for number, (what, answer) in enumerate(answers)}, sys.stdout)


# -- as the agent


def requests() -> Any:
    yield (
        "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    )
    yield "ping", None
    yield "tools/list", {}
    yield "resources/list", {}
    for name in [*(f"gives {name}" for name in RESULTS), *(f"raises {name}" for name in FAILURES), "absent"]:
        yield "tools/call", {"name": name, "arguments": {}}
    for name, tried in ARGUMENTS.items():
        for arguments in tried:
            yield "tools/call", {"name": name, **({} if arguments is None else {"arguments": arguments})}


def send(frame):
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def play():
    frames = map(json.loads, sys.stdin)
    frame = next(frames)
    send(
        {
            "type": "control_response",
            "response": {"subtype": "success", "request_id": frame["request_id"], "response": {}},
        }
    )
    for number, (method, params) in enumerate(requests()):
        message = {
            "jsonrpc": "2.0",
            "id": number,
            "method": method,
            **({} if params is None else {"params": params}),
        }
        body = {"subtype": "mcp_message", "server_name": "s", "message": message}
        send({"type": "control_request", "request_id": f"r{number}", "request": body})
        answer = next(frame for frame in frames if frame["type"] == "control_response")
        what = f"{method} {json.dumps(params)}" if method == "tools/call" else method
        sys.stderr.write(json.dumps([what, answer["response"]]) + "\n")
        sys.stderr.flush()
        if method == "initialize":
            note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            body = {"subtype": "mcp_message", "server_name": "s", "message": note}
            send({"type": "control_request", "request_id": "n", "request": body})
            next(frame for frame in frames if frame["type"] == "control_response")
    usage = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "total_cost_usd": 0, "usage": {}}
    send(
        {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "result": "", **usage}
    )


if "--input-format" in sys.argv:
    play()
else:
    anyio.run(serve, importlib.import_module(sys.argv[1]))
