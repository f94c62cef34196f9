"""A server of in-process tools: answers the JSON-RPC messages of the Model Context Protocol.

It does no I/O: a conversation hands it messages and takes its answers, each in a task of its own.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import anyio

from .errors import OptionsError
from .tool_definition import SdkMcpTool
from .tool_results import failure, result_body
from .tool_schema import input_schema_of
from .tool_server_package import PackageServer, Start, server_of

__all__ = ["SdkMcpServer", "ToolServer", "tool_servers"]

logger = logging.getLogger("claude_wrapper.tools")

Message = dict[str, Any]

_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Protocol versions, the newest first."""

_INVALID_REQUEST = -32600
_METHOD_NOT_FOUND = -32601
_INVALID_PARAMS = -32602


class ToolServer(Protocol):
    """Anything that answers the messages of the Model Context Protocol."""

    async def handle(self, message: Message, start: Start) -> Message | None:
        """Return the answer to a message, None where there is none; `start` runs what outlives the call."""


def tool_servers(servers: Any, known: Mapping[str, ToolServer] | None = None) -> dict[str, ToolServer]:
    """Return the in-process servers among `ClaudeAgentOptions.mcp_servers`, by their names there.

    Those that are known stay as they are, since an agent may go on with their sessions.
    """
    if not isinstance(servers, Mapping):
        return {}
    return {
        name: _tool_server(name, config.get("instance"), (known or {}).get(name))
        for name, config in servers.items()
        if config.get("type") == "sdk"
    }


def _tool_server(name: str, instance: Any, known: ToolServer | None) -> ToolServer:
    if isinstance(instance, SdkMcpServer):
        return instance
    server = server_of(instance)
    if server is not None:
        same = isinstance(known, PackageServer) and known.server is server
        return known if same else PackageServer(name, server)  # type: ignore[return-value]  # it is that one
    raise OptionsError(
        f"ClaudeAgentOptions.mcp_servers[{name!r}] has a {type(instance).__name__} as its instance; "
        "make it with create_sdk_mcp_server(), or give a server of the mcp package"
    )


class SdkMcpServer:
    """A server of tools that are functions of this program."""

    def __init__(self, name: str, version: str, tools: list[SdkMcpTool[Any]]) -> None:
        self.name = name
        self.version = version
        self._given = list(tools)
        self._tools: dict[str, _Tool] = {}
        for tool in tools:
            _check(name, tool)
            if tool.name in self._tools:
                raise OptionsError(f"The server {name!r} has two tools named {tool.name!r}")
            self._tools[tool.name] = _Tool(tool)
        self._running: dict[Any, anyio.CancelScope] = {}

    def __repr__(self) -> str:
        return f"SdkMcpServer({self.name!r}, {self.version!r}, {list(self._tools)})"

    def with_handlers(self, change: Callable[[Any], Any]) -> SdkMcpServer:
        """Return the same server with the function of every tool changed, as by a decorator."""
        tools = [dataclasses.replace(tool, handler=change(tool.handler)) for tool in self._given]
        return SdkMcpServer(self.name, self.version, tools)

    async def handle(self, message: Message, start: Start | None = None) -> Message | None:
        """Answer a request; notifications and replies have no answer. Raises nothing of its own."""
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str):
            if "result" in message or "error" in message:
                return None
            return _error(number, _INVALID_REQUEST, "Invalid request")
        params = message.get("params") or {}
        if number is None:
            self._notified(method, params)
            return None
        if not isinstance(params, Mapping):
            return _error(number, _INVALID_PARAMS, "Invalid request parameters")
        return await self._answer(number, method, params)

    async def _answer(self, number: Any, method: str, params: Mapping[str, Any]) -> Message:
        match method:
            case "initialize":
                return _result(number, self._introduction(params.get("protocolVersion")))
            case "ping":
                return _result(number, {})
            case "tools/list":
                return _result(number, {"tools": [tool.listing for tool in self._tools.values()]})
            case "tools/call":
                name, arguments = params.get("name"), params.get("arguments")
                if not isinstance(name, str) or not isinstance(arguments, Mapping | None):
                    return _error(number, _INVALID_PARAMS, "Invalid request parameters")
                return _result(number, await self._call(number, name, dict(arguments or {})))
            case _:
                return _error(number, _METHOD_NOT_FOUND, "Method not found", method)

    def _introduction(self, wanted: Any) -> Message:
        return {
            "protocolVersion": wanted if wanted in _VERSIONS else _VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": self.name, "version": self.version},
        }

    async def _call(self, number: Any, name: str, arguments: Message) -> Message:
        tool = self._tools.get(name)
        if tool is None:
            return failure(f"Tool '{name}' not found")
        scope = self._running[number] = anyio.CancelScope()
        try:
            with scope:
                return await tool.call(arguments)
        finally:
            if self._running.get(number) is scope:
                del self._running[number]
        return failure(f"The call of {name} was cancelled")

    def _notified(self, method: str, params: Any) -> None:
        if method == "notifications/cancelled" and isinstance(params, Mapping):
            scope = self._running.get(params.get("requestId"))
            if scope is not None:
                scope.cancel()


def _check(server: str, tool: Any) -> None:
    """Refuse what is no tool; raises OptionsError."""
    if not isinstance(tool, SdkMcpTool):
        hint = "; decorate it: @tool(name, description, input_schema)" if callable(tool) else ""
        raise OptionsError(f"The server {server!r} was given {tool!r} as a tool{hint}")
    name: Any = tool.name
    description: Any = tool.description
    if not isinstance(name, str) or not name:
        raise OptionsError(f"The server {server!r} has a tool whose name is no text: {name!r}")
    if not isinstance(description, str):
        raise OptionsError(f"The description of the tool {name!r} must be a text, got {description!r}")
    if not callable(tool.handler):
        raise OptionsError(f"The tool {name!r} has no function to call, but {tool.handler!r}")


class _Tool:
    """A tool with its schema and the check of its arguments."""

    def __init__(self, tool: SdkMcpTool[Any]) -> None:
        self._name = tool.name
        self._handler = tool.handler
        self._schema = input_schema_of(tool.name, tool.input_schema)
        self._validator: Any = None
        self.listing = _listing(tool, self._schema)

    async def call(self, arguments: Message) -> Message:
        try:
            problem = self._problem_with(arguments)
            if problem is not None:
                return failure(f"Input validation error: {problem}")
            result: Any = self._handler(arguments)
            if hasattr(result, "__await__"):
                result = await result
            return result_body(self._name, result)
        except Exception as error:
            # The model reads what went wrong and may try something else.
            logger.debug("the tool %s failed", self._name, exc_info=True)
            return failure(str(error) or type(error).__name__)

    def _problem_with(self, arguments: Message) -> str | None:
        from jsonschema import exceptions  # noqa: PLC0415  # loaded on the first call: 50 ms that many never need

        if self._validator is None:
            self._validator = _validator(self._schema)
        error = exceptions.best_match(self._validator.iter_errors(arguments))
        return None if error is None else error.message


def _validator(schema: Message) -> Any:
    from jsonschema import validators  # noqa: PLC0415  # likewise
    from referencing import Registry  # noqa: PLC0415  # likewise

    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    kind.check_schema(schema)
    # An empty registry: a reference to another document must not make us fetch it.
    return kind(schema, registry=Registry())


def _listing(tool: SdkMcpTool[Any], schema: Message) -> Message:
    listing: Message = {"name": tool.name, "description": tool.description, "inputSchema": schema}
    if tool.annotations is not None:
        hints = _hints(tool.annotations)
        size = hints.pop("maxResultSizeChars", None)
        listing["annotations"] = {name: hints[name] for name in _HINTS if name in hints}
        if size is not None:
            listing["_meta"] = {"anthropic/maxResultSizeChars": size}
    return listing


_HINTS = ("title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def _hints(annotations: Any) -> Message:
    """Read annotations of ours, of the `mcp` package, or as a dict."""
    if isinstance(annotations, Mapping):
        return {name: value for name, value in annotations.items() if value is not None}
    hints: Message = annotations.model_dump(by_alias=True, exclude_none=True)
    return hints


def _result(number: Any, result: Message) -> Message:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Any, code: int, text: str, data: str | None = None) -> Message:
    error: Message = {"code": code, "message": text}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": number, "error": error}
