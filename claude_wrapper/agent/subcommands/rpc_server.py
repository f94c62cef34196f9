"""The server's end of MCP over stdin and stdout: lines in, replies out, calls side by side."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec

from claude_wrapper.agent.pipes.output import LineWriter, open_unshared
from claude_wrapper.agent.pipes.stdin import ByteReader
from claude_wrapper.agent.version import AGENT_VERSION
from claude_wrapper.wire.framing import LineSplitter

from .served_tools import ServedTools, UnknownToolError

__all__ = ["RpcServer"]

_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions of MCP that this server speaks, the newest first."""
_PARSE, _REQUEST, _METHOD, _PARAMS, _INTERNAL = -32700, -32600, -32601, -32602, -32603
_END_SECONDS = 30.0
_decoder = msgspec.json.Decoder(Any)


class _Fault(Exception):  # noqa: N818  # becomes an error of JSON-RPC
    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class RpcServer:
    """Answers one client."""

    def __init__(self, tools: ServedTools) -> None:
        self._tools = tools
        self._lines = LineSplitter()
        self._arrived = anyio.Event()
        self._inbox: list[Any] = []
        self._ended = False
        self._running: dict[Any, anyio.CancelScope] = {}
        self._writer = LineWriter(open_unshared(1), self._end)

    async def run(self) -> None:
        """Serve until stdin ends; what runs then may still end, in bounded time."""
        reader = ByteReader(0, self._feed, self._end)
        reader.start()
        async with anyio.create_task_group() as tasks:
            while not self._ended or self._inbox:
                inbox, self._inbox = self._inbox, []
                for line in inbox:
                    self._take(line, tasks)
                if not self._inbox and not self._ended:
                    await self._arrived.wait()
                    self._arrived = anyio.Event()
            tasks.cancel_scope.deadline = anyio.current_time() + _END_SECONDS
        with anyio.move_on_after(_END_SECONDS):
            await self._writer.room()
        reader.stop()

    def _feed(self, data: bytes) -> None:
        self._inbox += self._lines.feed(data)
        self._arrived.set()

    def _end(self) -> None:
        self._inbox += self._lines.finish()
        self._ended = True
        self._arrived.set()

    def _take(self, line: Any, tasks: Any) -> None:
        if not isinstance(line, bytes):
            self._fail(None, _Fault(_REQUEST, "the message is too large"))
            return
        try:
            message = _decoder.decode(line)
        except (msgspec.DecodeError, RecursionError):
            self._fail(None, _Fault(_PARSE, "Parse error"))
            return
        for each in message if isinstance(message, list) else [message]:
            if not isinstance(each, dict) or not isinstance(each.get("method"), str):
                # A reply to something that was never asked needs no answer.
                if not (isinstance(each, dict) and ("result" in each or "error" in each)):
                    self._fail(None, _Fault(_REQUEST, "Invalid Request"))
            elif "id" in each:
                tasks.start_soon(self._answer, each, self._scope_of(each["id"]))
            elif each["method"] == "notifications/cancelled":
                self._cancel(each.get("params"))

    def _cancel(self, params: Any) -> None:
        number = params.get("requestId") if isinstance(params, dict) else None
        scope = self._running.get(number) if isinstance(number, str | int) else None
        if scope is not None:
            scope.cancel()

    def _scope_of(self, number: Any) -> anyio.CancelScope:
        """What a later line can cancel, also before the call has begun."""
        scope = anyio.CancelScope()
        if isinstance(number, str | int):
            self._running[number] = scope
        return scope

    async def _answer(self, request: dict[str, Any], scope: anyio.CancelScope) -> None:
        number = request["id"]
        try:
            with scope:
                result = await self._result(request["method"], request.get("params"))
                self._writer.write_frame({"jsonrpc": "2.0", "id": number, "result": result})
        except _Fault as fault:
            self._fail(number, fault)
        finally:
            if isinstance(number, str | int):
                self._running.pop(number, None)

    async def _result(self, method: str, params: Any) -> dict[str, Any]:
        given = params if isinstance(params, dict) else {}
        if method == "initialize":
            wanted = given.get("protocolVersion")
            return {
                "protocolVersion": wanted if wanted in _VERSIONS else _VERSIONS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "claude-wrapper", "version": AGENT_VERSION},
            }
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": self._tools.described()}
        if method != "tools/call":
            raise _Fault(_METHOD, "Method not found")
        name = given.get("name")
        if not isinstance(name, str):
            raise _Fault(_PARAMS, "a call needs the name of a tool")
        try:
            return await self._tools.call(name, given.get("arguments"))
        except UnknownToolError as error:
            raise _Fault(_INTERNAL, str(error)) from error

    def _fail(self, number: Any, fault: _Fault) -> None:
        error = {"code": fault.code, "message": str(fault)}
        self._writer.write_frame({"jsonrpc": "2.0", "id": number, "error": error})
