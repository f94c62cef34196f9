"""What a way to an MCP server is: it carries messages there, and brings in what the server says by itself."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = [
    "AuthNeededError",
    "Channel",
    "Listener",
    "LostError",
    "McpChannelError",
    "Messenger",
    "NoAnswerError",
    "SessionGoneError",
]


class McpChannelError(Exception):
    """A message to a server was not answered."""


class NoAnswerError(McpChannelError):
    """No answer came in time."""


class LostError(McpChannelError):
    """Nobody is left to say what became of a message."""


class AuthNeededError(McpChannelError):
    """The server wants somebody to sign in."""


class SessionGoneError(McpChannelError):
    """The server has forgotten the session; a new one can be begun."""


class Messenger(Protocol):
    """Carries messages to servers."""

    async def mcp_message(
        self,
        server: str,
        message: dict[str, Any],
        seconds: float | None,
        revocation: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The reply, or nothing for what has none; raises McpChannelError.

        `revocation` goes out when the answer is not waited for any longer.
        """
        ...


class Channel(Messenger, Protocol):
    """The way to one server."""

    @property
    def over(self) -> bool:
        """Whether nothing can be sent any more."""
        ...

    async def close(self) -> None: ...


class Listener(Protocol):
    """Is told what a server says by itself."""

    async def heard(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """The result for a request, None for what is not known; that of a notification is of no interest."""
        ...
