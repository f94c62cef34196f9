"""A server that its author wrote with the `mcp` package, behind the messages that an agent sends it.

The package's own session runs, so that whatever the server offers is there: tools, resources, prompts,
its lifespan and the context of its requests. Nothing of the package is imported before a server of it
is used.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel

__all__ = ["PackageServer", "Start", "server_of"]

logger = logging.getLogger("claude_wrapper.tools")

Message = dict[str, Any]
Start = Callable[[Callable[[], Awaitable[None]]], object]

_INTERNAL_ERROR = -32603
_METHOD_NOT_FOUND = -32601

_INNER = ("_mcp_server", "_lowlevel_server")
"""Where the package's decorated servers, FastMCP and MCPServer, keep the one that speaks the protocol."""


def server_of(instance: Any) -> Any | None:
    """Return the server of the `mcp` package that this is, or that it wraps; None when it is none."""
    for candidate in (instance, *(getattr(instance, name, None) for name in _INNER)):
        if callable(getattr(candidate, "run", None)) and callable(
            getattr(candidate, "create_initialization_options", None)
        ):
            return candidate
    return None


class PackageServer:
    """Runs such a server for one conversation; each `initialize` begins a session anew."""

    def __init__(self, name: str, server: Any) -> None:
        self.server = server
        self._name = name
        self._session: _Session | None = None

    async def handle(self, message: Message, start: Start) -> Message | None:
        """Answer a request; notifications and replies have no answer.

        `start` runs a session in the background, and whoever it belongs to ends it.
        """
        if self._session is None or message.get("method") == "initialize":
            if self._session is not None:
                self._session.end()
            self._session = _Session(self._name, self.server)
            start(self._session.run)
        return await self._session.handle(message)


class _Session:
    """One session: messages to the server, and its answers by the ids of the requests."""

    def __init__(self, name: str, server: Any) -> None:
        self._name = name
        self._server = server
        self._to_server, self._incoming = anyio.create_memory_object_stream[Any](math.inf)
        self._outgoing, self._from_server = anyio.create_memory_object_stream[Any](math.inf)
        self._waiting: dict[Any, _Slot] = {}
        self._over: str | None = None
        """Why it answers no more."""

    async def run(self) -> None:
        """Run the server until the session is ended, from here or by itself."""
        reason = "has ended"
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._take_answers)
                await self._server.run(
                    self._incoming, self._outgoing, self._server.create_initialization_options()
                )
                # What it has answered last is still taken.
                self._outgoing.close()
        except Exception as error:
            logger.exception("the server %s of the mcp package failed", self._name)
            reason = f"failed: {_cause(error)}"
        finally:
            self._finish(f"The server {self._name} {reason}")

    def end(self) -> None:
        """Close what it reads, whereupon it ends."""
        self._to_server.close()

    def _finish(self, why: str) -> None:
        self._over = why
        for stream in (self._to_server, self._incoming, self._outgoing, self._from_server):
            stream.close()
        for number, slot in self._waiting.items():
            slot.fill(_error(number, _INTERNAL_ERROR, why))

    async def handle(self, message: Message) -> Message | None:
        number = message.get("id")
        if "method" not in message or number is None:
            self._send(message)
            # Notifications are in effect before the next message: the agent waits for this answer only.
            await anyio.lowlevel.checkpoint()
            return None
        if self._over is not None:
            return _error(number, _INTERNAL_ERROR, self._over)
        slot = self._waiting[number] = _Slot()
        try:
            self._send(message)
            return await slot.filled()
        except anyio.get_cancelled_exc_class():
            self._send(
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            )
            raise
        finally:
            self._waiting.pop(number, None)

    def _send(self, message: Message) -> None:
        try:
            self._to_server.send_nowait(_packed(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            logger.debug("a message came too late for the server %s", self._name)

    async def _take_answers(self) -> None:
        async for packed in self._from_server:
            message = _unpacked(packed)
            slot = self._waiting.get(message.get("id")) if "method" not in message else None
            if slot is not None:
                slot.fill(message)
            elif "method" in message and message.get("id") is not None:
                # Agents offer nothing on this way back: no sampling, no questions to the user.
                self._send(
                    _error(message["id"], _METHOD_NOT_FOUND, f"Not available here: {message['method']}")
                )
            else:
                logger.debug("the server %s sent %s, which goes nowhere", self._name, message.get("method"))


class _Slot:
    """Where one answer is waited for."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._answer: Message = {}

    def fill(self, answer: Message) -> None:
        self._answer = answer
        self._event.set()

    async def filled(self) -> Message:
        await self._event.wait()
        return self._answer


def _cause(error: BaseException) -> str:
    """Say what lies in the groups that task groups put around an error."""
    while inner := getattr(error, "exceptions", ()):
        error = inner[0]
    return str(error) or type(error).__name__


def _packed(message: Message) -> Any:
    from mcp.shared.message import SessionMessage  # noqa: PLC0415  # only those have it who use it
    from mcp.types import JSONRPCMessage  # noqa: PLC0415  # likewise
    from pydantic import TypeAdapter  # noqa: PLC0415  # likewise

    # A class in the package's first major version, a union in the second.
    adapter: TypeAdapter[Any] = TypeAdapter(JSONRPCMessage)
    return SessionMessage(adapter.validate_python(message))


def _unpacked(packed: Any) -> Message:
    message: Message = packed.message.model_dump(by_alias=True, mode="json", exclude_none=True)
    return message


def _error(number: Any, code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}
