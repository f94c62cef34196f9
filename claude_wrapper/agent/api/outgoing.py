"""What a request is on the wire, and who makes it so: the contract of the providers of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from .endpoint import Endpoint
from .request import ModelRequest

__all__ = ["Outgoing", "Provider"]


class Outgoing(msgspec.Struct, frozen=True):
    """One request as it is sent."""

    url: str
    headers: Sequence[tuple[str, str]]
    body: bytes


class Provider(Protocol):
    """Knows a provider's addresses, and how it is told who asks."""

    endpoint: Endpoint
    """The address that connections go to."""

    def check(self) -> None:
        """Raise ApiError if no request could be sent, before anything is."""
        ...

    async def outgoing(self, request: ModelRequest, *, stream: bool) -> Outgoing:
        """Make a request ready to be sent; raises ApiError if there are no credentials."""
        ...

    def forget(self) -> bool:
        """The credentials were refused: get others for the next request. Whether that can be done."""
        ...

    def redact(self, text: str) -> str:
        """Take every credential out of a text."""
        ...
