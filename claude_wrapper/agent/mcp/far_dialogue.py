"""What the channels to servers behind a URL have in common."""

from __future__ import annotations

from .channel import Listener
from .dialogue import GONE, Dialogue
from .headers import Headers
from .http_requests import HttpRequests

__all__ = ["FarDialogue"]


class FarDialogue(Dialogue):
    """Speaks HTTP to its server."""

    def __init__(self, url: str, headers: Headers, listener: Listener) -> None:
        super().__init__(listener)
        self._requests = HttpRequests(url, headers)

    async def close(self) -> None:
        """Let go of the server."""
        self._fail(GONE)
        await self._end_tasks()
        await self._requests.close()
