"""A server that runs in the host: its messages travel over the control channel."""

from __future__ import annotations

from typing import Any

from .channel import Messenger

__all__ = ["HostChannel"]


class HostChannel:
    """Is open as long as the host is there."""

    over = False

    def __init__(self, host: Messenger) -> None:
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
