"""An MCP server behind a URL: each message is posted, replies come as JSON or as a stream of events."""

from __future__ import annotations

import contextlib
from typing import Any

import anyio

from claude_wrapper.wire.codec import encode

from .channel import Listener, McpChannelError
from .dialogue import GONE, Reply
from .far_dialogue import FarDialogue
from .headers import Headers
from .http_requests import EVENTS, events, kind_of, whole
from .protocol import PROTOCOL_VERSION

__all__ = ["HttpChannel"]

_JSON = "application/json"
_TRIES = 5


class HttpChannel(FarDialogue):
    """Carries messages to one server. What the server says by itself comes over a stream that stays open."""

    def __init__(self, url: str, headers: Headers, listener: Listener) -> None:
        super().__init__(url, headers, listener)
        self._session: str | None = None
        self._greeted = False

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
                    self._take_encoded(await whole(response))
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
                        self._take_encoded(event.data)
            await anyio.sleep(wait)
            wait *= 2

    async def _read_events(self, response: Any, reply: Reply) -> None:
        async with contextlib.aclosing(events(response)) as stream:
            async for event in stream:
                self._take_encoded(event.data)
                if reply.done():
                    return
