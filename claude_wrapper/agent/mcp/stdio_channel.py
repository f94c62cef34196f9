"""An MCP server as a program of its own: started on first use, spoken to in lines over its stdin and stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import msgspec

from claude_wrapper.agent.processes.child import Child, Pump, start
from claude_wrapper.wire.codec import encode_line
from claude_wrapper.wire.framing import LineSplitter

from .host_server import McpChannelError

__all__ = ["OutOfReach", "StdioChannel"]

_END_SECONDS = 0.5
_REVOKE_SECONDS = 1.0
_GONE = "the server closed the connection"
_decoder = msgspec.json.Decoder(dict[str, Any])


class StdioChannel:
    """Carries messages to one server. Its process ends with `close`, at the latest with the agent."""

    def __init__(self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        self._argv = list(argv)
        self._cwd = cwd
        self._environment = dict(environment)
        self._child: Child | None = None
        self._stdin = -1
        self._pumps: list[Pump] = []
        self._lines = LineSplitter()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._writing = anyio.Lock()
        self._answers: set[asyncio.Task[None]] = set()
        self._over = False

    async def mcp_message(
        self,
        server: str,
        message: dict[str, Any],
        seconds: float | None,
        revocation: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send a message; returns the reply, or nothing for what has none. Raises McpChannelError."""
        self._start()
        number = message.get("id")
        if number is None:
            await self._write(message)
            return {}
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        try:
            await self._write(message)
            with anyio.fail_after(seconds):
                return await reply
        except TimeoutError as error:
            await self._revoke(revocation)
            raise McpChannelError(f"no answer came within {seconds:g} s") from error
        except asyncio.CancelledError:
            await self._revoke(revocation)
            raise
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the server: by the end of its input, or by force."""
        child, self._child = self._child, None
        self._fail(_GONE)
        if child is None:
            return
        with contextlib.suppress(OSError):
            os.close(self._stdin)
        with anyio.move_on_after(_END_SECONDS):
            await child.wait()
        await child.stop()
        for pump in self._pumps:
            pump.detach()
        child.close_pipes()

    def _start(self) -> None:
        if self._over:
            raise McpChannelError(_GONE)
        if self._child is not None:
            return
        reading, self._stdin = os.pipe()
        try:
            self._child = start(
                self._argv,
                cwd=self._cwd,
                environment=self._environment,
                separate_stderr=True,
                stdin=reading,
            )
        except (OSError, ValueError) as error:
            os.close(self._stdin)
            self._over = True
            raise McpChannelError(
                f"it cannot be started: {getattr(error, 'strerror', None) or error}"
            ) from error
        finally:
            os.close(reading)
        os.set_blocking(self._stdin, False)
        assert self._child.stderr is not None
        self._pumps = [Pump(self._child.stdout, self._read), Pump(self._child.stderr, lambda _: None)]
        self._answer(self._until_end(self._pumps[0]))

    async def _until_end(self, output: Pump) -> None:
        await output.ended.wait()
        self._fail(_GONE)

    def _fail(self, text: str) -> None:
        self._over = True
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(McpChannelError(text))

    def _read(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            # What is no message, say a line that the program logs, is not ours to judge.
            if isinstance(line, bytes):
                with contextlib.suppress(msgspec.DecodeError, RecursionError):
                    self._take(_decoder.decode(line))

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if "method" in message:
            if number is not None:
                self._answer(self._serve(number, message["method"]))
            return
        reply = self._waiting.get(number) if isinstance(number, int) else None
        if reply is not None and not reply.done():
            reply.set_result(message)

    async def _serve(self, number: Any, method: Any) -> None:
        """Answer what the server asks: whether we live, and where we work; nothing else is offered."""
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        if method == "ping":
            reply["result"] = {}
        elif method == "roots/list":
            reply["result"] = {"roots": [{"uri": self._cwd.as_uri(), "name": self._cwd.name}]}
        else:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        with contextlib.suppress(McpChannelError):
            await self._write(reply)

    def _answer(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _revoke(self, revocation: dict[str, Any] | None) -> None:
        if revocation is None:
            return
        with anyio.move_on_after(_REVOKE_SECONDS, shield=True), contextlib.suppress(McpChannelError):
            await self._write(revocation)

    async def _write(self, message: dict[str, Any]) -> None:
        async with self._writing:
            data = memoryview(encode_line(message))
            while data:
                if self._over:
                    raise McpChannelError(_GONE)
                try:
                    data = data[os.write(self._stdin, data) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._stdin)
                except OSError as error:
                    raise McpChannelError(_GONE) from error


class OutOfReach:
    """Stands for a server behind a URL."""

    async def mcp_message(
        self,
        server: str,
        message: dict[str, Any],
        seconds: float | None,
        revocation: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Raises McpChannelError."""
        raise McpChannelError("servers behind a URL are not reached by this agent")
