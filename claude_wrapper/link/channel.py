"""The byte channel between two programs, with a pair in memory for tests and embedding."""

from __future__ import annotations

from typing import Protocol

import anyio

__all__ = ["Channel", "ChannelClosedError", "MemoryChannel", "memory_channel_pair"]


class ChannelClosedError(Exception):
    """The other end, or this one, has been closed."""


class Channel(Protocol):
    """Carries bytes both ways; where chunks begin and end means nothing."""

    async def send(self, data: bytes) -> None:
        """Write all of `data`; raises ChannelClosedError when nobody can read it any more."""

    async def receive(self) -> bytes:
        """Return the next bytes, b"" at the end."""

    async def aclose(self) -> None:
        """Close the sending half; the other side then reads the end."""


class MemoryChannel:
    """One end of a pair in memory. Bytes sent here are received by `peer`."""

    def __init__(self) -> None:
        self.peer: MemoryChannel = self
        self._chunks: list[bytes] = []
        self.ended = False
        self._changed = anyio.Event()

    async def send(self, data: bytes) -> None:
        if self.peer.ended:
            raise ChannelClosedError
        self.peer.deliver(data)
        await anyio.lowlevel.checkpoint()

    async def receive(self) -> bytes:
        while not self._chunks:
            if self.ended:
                return b""
            await self._changed.wait()
        data = b"".join(self._chunks)
        self._chunks.clear()
        return data

    async def aclose(self) -> None:
        self.peer.end()

    def deliver(self, data: bytes) -> None:
        """Take in what the other end sent."""
        self._chunks.append(data)
        self._wake()

    def end(self) -> None:
        """Take in that the other end was closed."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def memory_channel_pair() -> tuple[MemoryChannel, MemoryChannel]:
    """Return two connected ends; needs a running event loop."""
    left, right = MemoryChannel(), MemoryChannel()
    left.peer, right.peer = right, left
    return left, right
