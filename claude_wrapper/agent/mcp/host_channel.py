"""A server that runs in the host: its messages travel over the control channel."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["HostChannel", "McpHost"]


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


class HostChannel:
    """Is open as long as the host is there."""

    over = False

    def __init__(self, host: McpHost) -> None:
        self._host = host

    async def mcp_message(
        self,
        server: str,
        message: dict[str, Any],
        seconds: float | None,
        revocation: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send a message; raises McpChannelError."""
        return await self._host.mcp_message(server, message, seconds, revocation)

    async def close(self) -> None:
        """There is nothing to let go of."""
