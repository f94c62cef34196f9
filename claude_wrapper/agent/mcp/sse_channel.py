"""An MCP server behind a URL, by the older transport: one stream brings all replies, messages are posted beside it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import anyio

from claude_wrapper.wire.codec import encode

from .channel import Listener, McpChannelError
from .dialogue import GONE, Reply
from .far_dialogue import FarDialogue
from .headers import Headers
from .http_requests import EVENTS, events, is_of_origin, kind_of

__all__ = ["SseChannel"]


class SseChannel(FarDialogue):
    """Carries messages to one server."""

    def __init__(self, url: str, headers: Headers, listener: Listener) -> None:
        super().__init__(url, headers, listener)
        self._address: str | None = None
        """Where messages are posted to, which the server tells first."""
        self._told = anyio.Event()
        self._fault: McpChannelError | None = None
        self._listening = False

    async def _send(self, message: dict[str, Any], reply: Reply | None) -> None:
        if not self._listening:
            self._listening = True
            self._start(self._listen())
        await self._told.wait()
        if self._over or self._address is None:
            raise self._fault or McpChannelError(GONE)
        headers = {"content-type": "application/json"}
        async with self._requests.response("POST", headers, encode(message), self._address):
            return

    async def _listen(self) -> None:
        try:
            async with self._requests.response("GET", {"accept": EVENTS}) as response:
                if kind_of(response) != EVENTS:
                    raise McpChannelError(f"the server answered with {kind_of(response) or 'nothing'}")
                async for event in events(response):
                    self._hear(event.name, event.data)
        except McpChannelError as error:
            self._fault = error
        finally:
            self._fail(str(self._fault or GONE))
            self._told.set()

    def _hear(self, name: str, data: bytes) -> None:
        if name != "endpoint":
            self._take_encoded(data)
            return
        address = urljoin(self._requests.url, data.decode("utf-8", "replace"))
        if not is_of_origin(address, self._requests.url):
            raise McpChannelError("the server wants its messages sent to another one")
        self._address = address
        self._told.set()
