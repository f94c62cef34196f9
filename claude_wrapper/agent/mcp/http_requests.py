"""HTTP as MCP servers are spoken to in: one client, its headers, and what a refusal means."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2

from claude_wrapper.agent.version import AGENT_VERSION
from claude_wrapper.wire.sse import EventTooLargeError, SseParser

from .channel import AuthNeededError, McpChannelError, SessionGoneError
from .headers import Headers

__all__ = ["EVENTS", "HttpRequests", "is_of_origin", "kind_of"]

EVENTS = "text/event-stream"
_MOST_BYTES = 64 * 1024 * 1024
_CONNECT_SECONDS = 30.0
_REDIRECTS = 3
_LONGEST_COMPLAINT = 200
_ERRORS = (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, ValueError, OSError)
_SIGN_IN = frozenset({401, 403})


class HttpRequests:
    """Sends requests to one server. Other servers are never sent its headers."""

    def __init__(self, url: str, headers: Headers) -> None:
        self.url = url
        self._headers = headers
        self._client: httpx2.AsyncClient | None = None

    @contextlib.asynccontextmanager
    async def response(
        self,
        method: str,
        more: Mapping[str, str],
        content: bytes | None = None,
        url: str | None = None,
        *,
        in_session: bool = False,
    ) -> AsyncIterator[httpx2.Response]:
        """The response to a request, once its headers are there; raises McpChannelError for one that is no good."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                response = await self._sent(stack, method, more, content, url)
                if response.status_code in _SIGN_IN and self._headers.can_be_made_anew:
                    self._headers.forget()
                    response = await self._sent(stack, method, more, content, url)
                if not 200 <= response.status_code < 300 and response.status_code != 405:
                    raise await self._refusal(response, in_session=in_session)
                yield response
        except _ERRORS as error:
            raise McpChannelError(f"the server cannot be reached: {_said(error)}") from error

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _sent(
        self,
        stack: contextlib.AsyncExitStack,
        method: str,
        more: Mapping[str, str],
        content: bytes | None,
        url: str | None,
    ) -> httpx2.Response:
        target = url or self.url
        headers = {"user-agent": f"claude-wrapper/{AGENT_VERSION}", **await self._headers.all(), **more}
        if self._client is None:
            self._client = _client(target)
        for _ in range(_REDIRECTS):
            response: httpx2.Response = await stack.enter_async_context(
                self._client.stream(method, target, headers=headers, content=content)
            )
            place = response.headers.get("location")
            if response.status_code not in (301, 302, 307, 308) or place is None:
                return response
            place = urljoin(target, place)
            if not is_of_origin(place, target):
                raise McpChannelError("the server sends its requests on to another one")
            target = place
            if url is None:
                self.url = place
        raise McpChannelError("the server sends its requests in circles")

    async def _refusal(self, response: httpx2.Response, *, in_session: bool) -> McpChannelError:
        status = response.status_code
        if status in _SIGN_IN:
            if self._headers.signs_in:
                return McpChannelError(
                    f"the server does not accept the configured Authorization header (HTTP {status})"
                )
            return AuthNeededError(f"the server wants somebody to sign in (HTTP {status})")
        if status == 404 and in_session:
            return SessionGoneError("the server knows nothing of the session (HTTP 404)")
        with contextlib.suppress(*_ERRORS):
            text = (await _beginning(response)).strip()
            return McpChannelError(f"HTTP {status}: {text}" if text else f"HTTP {status}")
        return McpChannelError(f"HTTP {status}")


def kind_of(response: httpx2.Response) -> str:
    """The content type, without its details."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


async def whole(response: httpx2.Response) -> bytes:
    """The body; raises McpChannelError."""
    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _MOST_BYTES:
                raise McpChannelError("the server sent too much")
    except _ERRORS as error:
        raise McpChannelError(f"the server broke off: {_said(error)}") from error
    return bytes(body)


async def events(response: httpx2.Response) -> AsyncGenerator[Any, None]:
    """The events of a stream; raises McpChannelError."""
    parser = SseParser()
    try:
        async for chunk in response.aiter_bytes():
            for event in parser.feed(chunk):
                yield event
    except (*_ERRORS, EventTooLargeError) as error:
        raise McpChannelError(f"the server broke off: {_said(error)}") from error


def is_of_origin(url: str, other: str) -> bool:
    """Whether two addresses are of the same server."""
    return _origin(url) == _origin(other)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


async def _beginning(response: httpx2.Response) -> str:
    with anyio.move_on_after(1):
        async for chunk in response.aiter_bytes():
            return chunk[:_LONGEST_COMPLAINT].decode("utf-8", "replace")
    return ""


def _client(url: str) -> httpx2.AsyncClient:
    verify: Any = False
    if not url.startswith("http://"):
        # Reading the system's certificates takes longer than all the rest, and http needs none.
        verify = httpx2.create_ssl_context()
        extra = os.environ.get("NODE_EXTRA_CA_CERTS")
        if extra and Path(extra).is_file():
            verify.load_verify_locations(extra)
    return httpx2.AsyncClient(timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS), verify=verify)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
