"""Writes to the agent; where it takes no more, the reason is the error."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from claude_wrapper.errors import CLIConnectionError

from .channels import AgentChannel
from .inbox import Inbox

__all__ = ["Outgoing"]

_VERDICT_SECONDS = 2.0
"""How much longer than an agent may take to exit it may take to find out why it takes no more input."""


class Outgoing:
    """The way to the agent."""

    def __init__(
        self,
        channel: AgentChannel,
        inbox: Inbox,
        ended: anyio.Event,
        fatal: Callable[[], Exception | None],
        exit_seconds: float,
    ) -> None:
        self._channel = channel
        self._inbox = inbox
        self._ended = ended
        self._fatal = fatal
        self._exit_seconds = exit_seconds
        self._writing = 0

    @property
    def is_writing(self) -> bool:
        """Whether something is being sent."""
        return self._writing > 0

    async def send(self, data: bytes) -> None:
        """Write, and wait until the agent has room for it."""
        self._writing += 1
        # An agent that cannot write does not read either.
        self._inbox.release()
        try:
            await self._channel.send(data)
        except CLIConnectionError:
            # The pipe breaks before the reader knows why; its reason is the better one.
            with anyio.move_on_after(self._exit_seconds + _VERDICT_SECONDS):
                await self._ended.wait()
            if self._ended.is_set():
                raise self.why_it_has_ended() from None
            raise
        finally:
            self._writing -= 1

    def why_it_has_ended(self) -> Exception:
        """Say it to those who would have it go on, also where nothing was wrong with that."""
        return self._inbox.error or self._fatal() or CLIConnectionError("The conversation is closed")
