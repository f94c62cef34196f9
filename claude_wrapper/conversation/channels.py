"""The channel to an agent as a conversation needs it, and a user's own transport as such a channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any, Protocol

from claude_wrapper.errors import CLIConnectionError
from claude_wrapper.wire.codec import encode_line

__all__ = ["AgentChannel", "Transport", "TransportChannel"]


class AgentChannel(Protocol):
    """A started agent: bytes both ways, and its end."""

    async def receive(self) -> bytes:
        """Return the next bytes of its stdout, b"" at the end."""

    async def send(self, data: bytes) -> None:
        """Write to its stdin; raises CLIConnectionError when it cannot take more."""

    async def end_input(self) -> None:
        """Close its stdin."""

    async def wait(self, timeout: float) -> int | None:
        """Wait for its exit code, at most `timeout` seconds; None when it still runs or has none."""

    async def stop(self, grace: float | None = None) -> int | None:
        """End it, in a bounded time, and return its exit code; `grace`: seconds left to end by itself."""

    def kill(self) -> None:
        """End it at once."""

    @property
    def pid(self) -> int | None:
        """Its process id."""

    @property
    def stderr_tail(self) -> str:
        """What it last wrote to stderr."""


class Transport(ABC):
    """A way to reach an agent that a user implements, with the methods of the official SDK.

    One that has a process at its end may also have `pid`, `exit_code`, `stderr_tail` and `kill()`; an
    agent's bad end is then told as that of an agent that the library has started itself.
    """

    @abstractmethod
    async def connect(self) -> None:
        """Make the connection."""

    @abstractmethod
    async def write(self, data: str) -> None:
        """Send text, whole lines of JSON."""

    @abstractmethod
    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Give the agent's frames as dicts."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connection and free what belongs to it."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether `write` may be called."""

    @abstractmethod
    async def end_input(self) -> None:
        """Say that nothing more will be written."""


class TransportChannel:
    """Reads and writes a user's transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._frames: AsyncIterator[dict[str, Any]] | None = None

    async def receive(self) -> bytes:
        if self._frames is None:
            self._frames = aiter(self._transport.read_messages())
        try:
            return encode_line(await anext(self._frames))
        except StopAsyncIteration:
            return b""

    async def send(self, data: bytes) -> None:
        if not self._transport.is_ready():
            raise CLIConnectionError("The transport is not ready for writing")
        await self._transport.write(data.decode())

    async def end_input(self) -> None:
        await self._transport.end_input()

    async def wait(self, timeout: float) -> int | None:
        return self._exit_code

    async def stop(self, grace: float | None = None) -> int | None:
        await self._transport.close()
        return self._exit_code

    def kill(self) -> None:
        kill = getattr(self._transport, "kill", None)
        if kill is None:
            raise CLIConnectionError("This transport has no process that could be killed")
        kill()

    @property
    def pid(self) -> int | None:
        pid: int | None = getattr(self._transport, "pid", None)
        return pid

    @property
    def stderr_tail(self) -> str:
        tail: str = getattr(self._transport, "stderr_tail", "")
        return tail

    @property
    def _exit_code(self) -> int | None:
        code: int | None = getattr(self._transport, "exit_code", None)
        return code
