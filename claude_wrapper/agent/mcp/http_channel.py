"""An MCP server behind a URL: each message is posted, replies come as JSON or as a stream of events."""

from __future__ import annotations

import contextlib
from typing import Any

import anyio
import msgspec

from claude_wrapper.wire.codec import encode

from .channel import Listener, McpChannelError
from .dialogue import GONE, Dialogue, Reply
from .headers import Headers
from .http_requests import EVENTS, HttpRequests, events, kind_of, whole
from .protocol import PROTOCOL_VERSION

__all__ = ["HttpChannel"]

_JSON = "application/json"
_TRIES = 5
_decoder = msgspec.json.Decoder()


class HttpChannel(Dialogue):
    """Carries messages to one server. What the server says by itself comes over a stream that stays open."""

    def __init__(self, url: str, headers: Headers, listener: Listener) -> None:
        super().__init__(listener)
        self._requests = HttpRequests(url, headers)
        self._session: str | None = None
        self._greeted = False

    async def close(self) -> None:
        """Let go of the server."""
        self._fail(GONE)
        await self._end_tasks()
        await self._requests.close()

    async def _send(self, message: dict[str, Any], reply: Reply | None) -> None:
        if self._over:
            raise McpChannelError(GONE)
        headers = {
            "accept": f"{_JSON}, {EVENTS}",
            "content-type": _JSON,
            **self._of_session(),
        }
        async with self._requests.response(
            "POST", headers, encode(message), in_session=self._session is not None
        ) as response:
            if response.status_code == 405:
                raise McpChannelError("HTTP 405: no MCP server is at this address")
            self._session = response.headers.get("mcp-session-id", self._session)
            if reply is not None:
                kind = kind_of(response)
                if kind == EVENTS:
                    await self._read_events(response, reply)
                elif kind == _JSON:
                    self._decode(await whole(response))
                else:
                    raise McpChannelError(f"the server answered with {kind or 'nothing'}")
                if not reply.done():
                    raise McpChannelError("the server's answer holds no reply")
        if message.get("method") == "notifications/initialized":
            self._greeted = True
            self._start(self._listen())

    def _of_session(self) -> dict[str, str]:
        headers = {}
        if self._session is not None:
            headers["mcp-session-id"] = self._session
        if self._greeted or self._session is not None:
            headers["mcp-protocol-version"] = PROTOCOL_VERSION
        return headers

    async def _listen(self) -> None:
        """Hear what the server says by itself, if it says anything; a stream that drops is opened again."""
        wait = 1.0
        for _ in range(_TRIES):
            with contextlib.suppress(McpChannelError):
                async with self._requests.response(
                    "GET", {"accept": EVENTS, **self._of_session()}
                ) as response:
                    if response.status_code == 405 or kind_of(response) != EVENTS:
                        return
                    async for event in events(response):
                        self._decode(event.data)
            await anyio.sleep(wait)
            wait *= 2

    async def _read_events(self, response: Any, reply: Reply) -> None:
        async with contextlib.aclosing(events(response)) as stream:
            async for event in stream:
                self._decode(event.data)
                if reply.done():
                    return

    def _decode(self, data: bytes) -> None:
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            self._take(_decoder.decode(data))
