"""Agents that are started before there is anything to do, so that the first message comes at once."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any

from claude_wrapper.conversation.live import Live
from claude_wrapper.conversation.run import Run
from claude_wrapper.conversation.start import start_conversation
from claude_wrapper.conversation.steering import check_grace
from claude_wrapper.errors import ClientUseError
from claude_wrapper.options import ClaudeAgentOptions

if TYPE_CHECKING:
    from types import TracebackType

    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.messages import Message

__all__ = ["WarmAgent", "startup"]


async def startup(
    options: ClaudeAgentOptions | None = None, *, transport: Transport | None = None
) -> WarmAgent:
    """Start an agent and shake hands with it, for a prompt that comes later.

    Raises what `ClaudeSDKClient.connect` raises. Whoever gets it uses or closes it:

        async with await startup(options) as warm:
            prompt = await what_the_user_wants()
            async for message in warm.query(prompt):
                ...
    """
    options = options if options is not None else ClaudeAgentOptions()
    return WarmAgent(await start_conversation(options, transport), options)


class WarmAgent:
    """A started agent that waits for its one conversation: `query`, or `ClaudeSDKClient.from_warm`."""

    def __init__(self, live: Live, options: ClaudeAgentOptions) -> None:
        self.options = options
        """What it was started with."""
        self._live = live
        self._taken = False

    @property
    def alive(self) -> bool:
        """Whether the agent runs."""
        return self._live.is_alive

    @property
    def pid(self) -> int | None:
        """The agent's process id."""
        return self._live.pid

    @property
    def server_info(self) -> dict[str, Any]:
        """The agent's answer to the handshake."""
        return self._live.server_info

    def query(self, prompt: str | AsyncIterable[dict[str, Any]]) -> AsyncIterator[Message]:
        """Run the agent on a prompt, as `claude_wrapper.query` does with one that it starts."""

        async def taken() -> Live:
            return self.hand_over()

        return Run(prompt, taken)

    def hand_over(self) -> Live:
        """Give the conversation to the one who will have it; ClientUseError when somebody has it already."""
        if self._taken:
            raise ClientUseError("This agent is in use, or was; an agent has one conversation: start another")
        self._taken = True
        return self._live

    def __del__(self) -> None:
        if not getattr(self, "_taken", True) and self._live.is_open:
            self._live.abandon()
            text = f"the agent {self.pid} was not closed"
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    def kill(self) -> None:
        """End the agent at once, from any thread. Whoever reads its messages is told by a ProcessError."""
        self._live.kill()

    async def close(self, timeout: float | None = None) -> None:
        """End the agent, in use or not; it has `timeout` seconds to end by itself. May be repeated."""
        check_grace(timeout)
        await self._live.close(timeout)

    async def __aenter__(self) -> WarmAgent:  # noqa: PYI034  # typing.Self is newer than 3.10
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()
