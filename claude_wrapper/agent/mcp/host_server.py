"""An MCP server that runs in the host: its handshake, its tools, its calls, over the control channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import anyio

from .protocol import PROTOCOL_VERSION, Requests, RpcError, result_of

__all__ = ["HostServer", "McpChannelError", "McpHost", "ServerFailedError"]

_MOST_PAGES = 50


class McpChannelError(Exception):
    """A message to a server was not answered."""


class ServerFailedError(Exception):
    """The server cannot be used, or a call of it failed; the text says why."""


class McpHost(Protocol):
    """Carries messages to the servers in the host."""

    async def mcp_message(
        self,
        server: str,
        message: dict[str, Any],
        seconds: float | None,
        revocation: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """`revocation` goes out when the answer is not waited for any longer. Raises McpChannelError."""
        ...


class HostServer:
    """One server. `status` is pending, connected or failed; `tools` are as the server described them."""

    def __init__(
        self,
        name: str,
        host: McpHost,
        client: Mapping[str, Any],
        call_seconds: float | None = None,
    ) -> None:
        self.name = name
        self.source = self.transport = "sdk"
        self.config: dict[str, Any] = {"type": "sdk", "name": name}
        self.status = "pending"
        self.error: str | None = None
        self.tools: list[dict[str, Any]] = []
        self.info: dict[str, Any] = {}
        self.call_seconds = call_seconds
        self._host = host
        self._client = dict(client)
        self._requests = Requests()
        self._greeted = anyio.Event()

    async def connect(self, seconds: float) -> None:
        """Do the handshake; afterwards the status is connected or failed."""
        try:
            with anyio.fail_after(seconds):
                self._greeted.set()
                self.info = await self._ask(self._requests.initialize(self._client))
                await self._send(self._requests.initialized())
                self.tools = await self._all_tools()
        except (McpChannelError, RpcError, TimeoutError) as error:
            self.status, self.error = "failed", str(error) or "the server did not answer in time"
        else:
            self.status = "connected"
        finally:
            self._greeted.set()

    async def spoken_to(self) -> None:
        """Wait until the first request of the handshake is about to go out."""
        await self._greeted.wait()

    def adopt_manifest(self, initialize: Mapping[str, Any], tools: Mapping[str, Any] | None) -> bool:
        """Take over results of the handshake that the host had already; False if they cannot be used."""
        if initialize.get("protocolVersion") != PROTOCOL_VERSION or not isinstance(
            (tools or {}).get("tools"), list
        ):
            return False
        assert tools is not None
        self.info = dict(initialize)
        self.tools = [tool for tool in tools["tools"] if isinstance(tool, dict)]
        self._requests.skip(2)
        self.status = "connected"
        self._greeted.set()
        return True

    async def call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        """Run a tool; raises ServerFailedError."""
        message = self._requests.call_tool(tool, arguments, meta)
        revocation = self._requests.cancelled(message["id"])
        try:
            return result_of(await self._host.mcp_message(self.name, message, self.call_seconds, revocation))
        except (McpChannelError, RpcError) as error:
            raise ServerFailedError(str(error)) from error

    async def _all_tools(self) -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._ask(self._requests.list_tools(cursor))
            listed = page.get("tools")
            tools += [tool for tool in listed if isinstance(tool, dict)] if isinstance(listed, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                break
        return tools

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        return result_of(await self._send(message))

    async def _send(self, message: dict[str, Any]) -> dict[str, Any]:
        return await self._host.mcp_message(self.name, message, None)
