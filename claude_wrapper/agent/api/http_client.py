"""The HTTP library behind the transport; importing it is slow, so it is imported on first use."""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path
from urllib.request import getproxies

import httpcore2
import httpx2

from .connect import ReadyBackend
from .endpoint import Endpoint
from .failure import Cause, FailedTryError, Failure
from .outgoing import Outgoing

__all__ = ["ERRORS", "HttpClient", "failure_of"]

# Below a minute servers rarely drop idle connections; one that did is noticed before it is used.
_KEEP_ALIVE = 60.0
_IDLE_CONNECTIONS = 8

ERRORS: tuple[type[Exception], ...] = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
)
"""What the libraries raise when a request fails."""


class HttpClient:
    """A connection pool for one endpoint; what its requests raise is in ERRORS.

    Without a proxy in the environment the first connection can be opened in advance. With one,
    httpx2 routes by itself (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY).
    """

    def __init__(self, endpoint: Endpoint, *, connect_timeout: float) -> None:
        # Reading the system's certificates takes longer than all the rest, and http needs none.
        self._tls = _tls_context() if endpoint.is_secure else None
        self._endpoint = endpoint
        self._backend: ReadyBackend | None = None
        timeout = httpx2.Timeout(None, connect=connect_timeout)
        limits = httpx2.Limits(
            max_connections=None, max_keepalive_connections=_IDLE_CONNECTIONS, keepalive_expiry=_KEEP_ALIVE
        )
        if getproxies().keys() - {"no"}:
            self._client = httpx2.AsyncClient(timeout=timeout, limits=limits, verify=self._tls or False)
        else:
            self._backend = ReadyBackend()
            self._client = httpx2.AsyncClient(
                timeout=timeout, trust_env=False, transport=_DirectTransport(self._backend, self._tls)
            )

    async def prepare(self, timeout: float) -> None:
        """Open a connection in advance, if that can be done; a failure shows again on first use."""
        if self._backend is None:
            return
        host, port = self._endpoint.address
        try:
            await self._backend.prepare(host, port, self._tls, timeout)
        except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError):
            return

    async def send(self, outgoing: Outgoing) -> httpx2.Response:
        """POST a body to the Messages API; return the response as soon as its headers are there."""
        encoded = [(name.encode("ascii"), value.encode("latin-1")) for name, value in outgoing.headers]
        request = self._client.build_request("POST", outgoing.url, content=outgoing.body, headers=encoded)
        try:
            return await self._client.send(request, stream=True)
        except ERRORS as error:
            raise FailedTryError(failure_of(error, begun=False)) from error

    async def chunks(self, response: httpx2.Response) -> AsyncGenerator[bytes, None]:
        """The body of a response as it comes."""
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except ERRORS as error:
            raise FailedTryError(failure_of(error, begun=True)) from error

    async def aclose(self) -> None:
        await self._client.aclose()


class _DirectTransport(httpx2.AsyncBaseTransport):
    """Sends requests over connections of our backend, without a proxy."""

    def __init__(self, backend: ReadyBackend, tls: ssl.SSLContext | None) -> None:
        self._backend = backend
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=None,
            max_keepalive_connections=_IDLE_CONNECTIONS,
            keepalive_expiry=_KEEP_ALIVE,
            network_backend=backend,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        response = await self._pool.handle_async_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_ResponseStream(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()
        await self._backend.aclose()


class _ResponseStream(httpx2.AsyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.aiter_stream():
            yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()


def _tls_context() -> ssl.SSLContext:
    context = httpx2.create_ssl_context()
    extra = os.environ.get("NODE_EXTRA_CA_CERTS")
    if extra and Path(extra).is_file():
        context.load_verify_locations(extra)
    return context


def failure_of(error: Exception, *, begun: bool) -> Failure:
    """Read one of ERRORS. `begun` says that the reply had begun to arrive.

    The two libraries below us have an error of the same name for each case, one for the pool
    that is used without proxies and one for the client.
    """
    causes = list(_chain(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return Failure(cause="tls", message=_tls_message(cause))
    message = str(error) or type(error).__name__
    if begun:
        return Failure(
            cause="malformed" if isinstance(error, httpx2.DecodingError) else "cut", message=message
        )
    return Failure(cause=_cause_before_reply(error, causes), message=message)


def _cause_before_reply(error: Exception, causes: list[BaseException]) -> Cause:
    name = type(error).__name__
    if name in {"UnsupportedProtocol", "InvalidURL", "LocalProtocolError"}:
        return "no_reply"
    if isinstance(error, (httpx2.TimeoutException, httpcore2.TimeoutException)):
        return "timeout"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "refused"
    return "unreachable" if name in {"ConnectError", "ProxyError"} else "dropped"


def _tls_message(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return error.reason or "the other side does not speak TLS"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and everything that led to it, also where several led to it at once."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting.extend(getattr(current, "exceptions", ()))
        waiting.extend(cause for cause in (current.__cause__, current.__context__) if cause is not None)
