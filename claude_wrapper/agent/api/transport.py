"""HTTP: sends one request and gives out the bytes of its response, within bounded time."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import msgspec

from .api_error import ApiError, endpoint_error
from .endpoint import Endpoint
from .failure import FailedTryError, Failure, failure_of_response
from .outgoing import Outgoing

if TYPE_CHECKING:
    import httpx2

    from .http_client import HttpClient

__all__ = ["Response", "Timeouts", "Transport"]

_LARGEST_ERROR = 256 * 1024
_LARGEST_REPLY = 64 * 1024 * 1024
_CLOSING = 1.0
_BEGIN = 600.0
_IDLE = 300.0


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds to wait: for a connection, for a reply to begin, for more of it; and when warming up."""

    connect: float = 30.0
    begin: float = _BEGIN
    idle: float = _IDLE
    warm: float = 5.0

    @staticmethod
    def from_environment(environment: Mapping[str, str]) -> Timeouts:
        """Read API_TIMEOUT_MS and CLAUDE_STREAM_IDLE_TIMEOUT_MS."""
        return Timeouts(
            begin=_seconds(environment, "API_TIMEOUT_MS", _BEGIN),
            idle=_seconds(environment, "CLAUDE_STREAM_IDLE_TIMEOUT_MS", _IDLE),
        )


def _seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    try:
        milliseconds = float(environment.get(name, ""))
    except ValueError:
        return default
    return milliseconds / 1000 if 0 < milliseconds < float("inf") else default


class Response:
    """A response whose headers are there and whose body is on its way."""

    def __init__(self, client: HttpClient, response: httpx2.Response, timeouts: Timeouts) -> None:
        self._client = client
        self._response = response
        self._timeouts = timeouts
        self.status = response.status_code
        self.content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.request_id: str | None = response.headers.get("request-id")

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes; raises FailedTryError if it breaks off or stops coming."""
        chunks = self._client.chunks(self._response)
        while True:
            try:
                with anyio.fail_after(self._timeouts.idle):
                    chunk = await anext(chunks)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                raise FailedTryError(Failure(cause="stalled", request_id=self.request_id)) from error
            yield chunk

    async def body(self, limit: int = _LARGEST_REPLY) -> bytes:
        """The whole body; what is over the limit is left."""
        parts: list[bytes] = []
        size = 0
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                parts.append(chunk)
                size += len(chunk)
                if size > limit:
                    break
        return b"".join(parts)[:limit]

    async def failure(self) -> Failure:
        """What a response that is no success says."""
        try:
            body = await self.body(_LARGEST_ERROR)
        except FailedTryError:
            body = b""
        response = self._response
        return failure_of_response(
            self.status, response.reason_phrase, response.headers, body, now=time.time()
        )


class Transport:
    """The connections to one endpoint. The HTTP library is loaded in a thread, on first use."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._client: HttpClient | None = None
        self._loading = anyio.Lock()

    async def warm(self) -> None:
        """Load the library and open a connection; failures are left to the first request."""
        with suppress(ApiError), anyio.move_on_after(self._timeouts.warm):
            client = await self._load()
            await client.prepare(self._timeouts.warm)

    @asynccontextmanager
    async def post(self, outgoing: Outgoing) -> AsyncIterator[Response]:
        """Send a request. Leaving early, also by cancellation, closes the connection."""
        client = self._client or await self._load()
        try:
            with anyio.fail_after(self._timeouts.begin):
                response = await client.send(outgoing)
        except TimeoutError as error:
            raise FailedTryError(Failure(cause="timeout")) from error
        try:
            yield Response(client, response, self._timeouts)
        finally:
            with anyio.move_on_after(_CLOSING, shield=True):
                await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            with anyio.move_on_after(_CLOSING, shield=True):
                await client.aclose()

    async def _load(self) -> HttpClient:
        async with self._loading:
            if self._client is None:
                self._client = await anyio.to_thread.run_sync(self._build, abandon_on_cancel=True)
            return self._client

    def _build(self) -> HttpClient:
        try:
            from .http_client import HttpClient  # noqa: PLC0415  # start-up: the import takes a third of it
        except ModuleNotFoundError as error:
            raise endpoint_error(f"the Python package {error.name} is not installed") from error
        for name in ("httpx2", "httpcore2"):
            # Their debug lines name headers and addresses.
            logging.getLogger(name).setLevel(logging.WARNING)
        return HttpClient(self._endpoint, connect_timeout=self._timeouts.connect)
