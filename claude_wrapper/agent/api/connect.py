"""Connections opened before they are needed: a network backend that hands them out."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable
from typing import Any

import anyio
import httpcore2

__all__ = ["ReadyBackend"]


class ReadyBackend(httpcore2.AsyncNetworkBackend):
    """Opens TCP connections, one of which may have been opened, and secured, in advance."""

    def __init__(self) -> None:
        self._backend = httpcore2.AnyIOBackend()
        self._ready: _ReadyStream | None = None
        self._address: tuple[str, int] | None = None
        self._opening = anyio.Lock()
        self._is_used = False

    async def prepare(self, host: str, port: int, tls: ssl.SSLContext | None, timeout: float) -> None:
        """Open a connection for the first request, unless that has come already.

        A request that comes meanwhile waits for it.
        """
        async with self._opening:
            if self._is_used:
                return
            stream = await self._backend.connect_tcp(host, port, timeout=timeout)
            if tls is not None:
                stream = await stream.start_tls(tls, server_hostname=host, timeout=timeout)
            self._ready, self._address = _ReadyStream(stream, secure=tls is not None), (host, port)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        async with self._opening:
            self._is_used = True
            ready = self._ready if self._address == (host, port) else None
            if ready is not None:
                self._ready = self._address = None
        if ready is not None:
            if not _has_ended(ready):
                return ready
            await ready.aclose()
        return await self._backend.connect_tcp(host, port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)

    async def aclose(self) -> None:
        """Close the connection that nobody asked for."""
        ready, self._ready, self._address = self._ready, None, None
        if ready is not None:
            await ready.aclose()


class _ReadyStream(httpcore2.AsyncNetworkStream):
    """A connection on which TLS, if it is needed, has been started already."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, *, secure: bool) -> None:
        self._stream = stream
        self._secure = secure

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        if self._secure:
            return self._stream
        return await self._stream.start_tls(ssl_context, server_hostname, timeout)


def _has_ended(stream: httpcore2.AsyncNetworkStream) -> bool:
    """Whether the other side has closed a connection that nothing was read from yet.

    That there is something to read is no sign of it: with TLS, session tickets come unasked.
    """
    connection = stream.get_extra_info("socket")
    try:
        with socket.fromfd(connection.fileno(), connection.family, connection.type) as copy:
            return not copy.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
