"""Which reply belongs to which request on a channel, and who hears what the server says by itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

import anyio
import msgspec

from .channel import Listener, McpChannelError, NoAnswerError

__all__ = ["GONE", "Dialogue", "Reply"]

Reply = asyncio.Future[dict[str, Any]]

GONE = "the server closed the connection"
_REVOKE_SECONDS = 1.0
_NOT_FOUND = {"code": -32601, "message": "Method not found"}
_decoder = msgspec.json.Decoder()


class Dialogue:
    """The part of a channel that is the same however messages travel; `_send` is left to it."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._waiting: dict[int, Reply] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = False

    @property
    def over(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._over

    async def mcp_message(
        self,
        server: str,
        message: dict[str, Any],
        seconds: float | None,
        revocation: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send a message; returns the reply, or nothing for what has none. Raises McpChannelError."""
        number = message.get("id")
        if number is None:
            await self._send(message, None)
            return {}
        reply: Reply = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        try:
            with anyio.fail_after(seconds):
                await self._send(message, reply)
                return await reply
        except TimeoutError as error:
            await self._revoke(revocation)
            raise NoAnswerError(f"no answer came within {seconds:g} s") from error
        except asyncio.CancelledError:
            await self._revoke(revocation)
            raise
        finally:
            self._waiting.pop(number, None)
            if reply.done() and not reply.cancelled():
                reply.exception()  # that sending failed as well has been told

    async def _send(self, message: dict[str, Any], reply: Reply | None) -> None:
        """Let a message go; returns when it is on its way, at the latest when `reply` is there."""
        raise NotImplementedError

    def _take_encoded(self, data: bytes) -> None:
        """Take in what came from the server; what is no JSON means nothing."""
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            self._take(_decoder.decode(data))

    def _take(self, message: Any) -> None:
        if isinstance(message, list):
            for each in message:
                self._take(each)
        if not isinstance(message, dict):
            return
        number = message.get("id")
        if "method" in message:
            params = message.get("params")
            self._start(
                self._serve(number, str(message["method"]), params if isinstance(params, dict) else {})
            )
            return
        reply = self._waiting.get(number) if isinstance(number, int) else None
        if reply is not None and not reply.done():
            reply.set_result(message)

    async def _serve(self, number: Any, method: str, params: dict[str, Any]) -> None:
        result = {} if method == "ping" else await self._listener.heard(method, params)
        if number is None:
            return
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        reply |= {"result": result} if result is not None else {"error": _NOT_FOUND}
        with contextlib.suppress(McpChannelError):
            await self._send(reply, None)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside; it ends with the channel."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _fail(self, text: str) -> None:
        """Nothing comes any more."""
        self._over = True
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(McpChannelError(text))

    async def _end_tasks(self) -> None:
        # A channel may be closed from one of its own tasks, which cannot wait for itself.
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _revoke(self, revocation: dict[str, Any] | None) -> None:
        if revocation is None:
            return
        with anyio.move_on_after(_REVOKE_SECONDS, shield=True), contextlib.suppress(McpChannelError):
            await self._send(revocation, None)
