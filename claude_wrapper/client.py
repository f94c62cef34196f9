"""The client: a conversation of many turns, with all that can be asked of a running agent."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any

from claude_wrapper.client_requests import ClientRequests
from claude_wrapper.conversation.connecting import Connecting
from claude_wrapper.conversation.feeding import feed
from claude_wrapper.conversation.prompts import check_prompt, check_prompts, prompt_frame
from claude_wrapper.conversation.start import start_conversation
from claude_wrapper.conversation.steering import check_grace
from claude_wrapper.errors import CLIConnectionError, ClientUseError
from claude_wrapper.options import ClaudeAgentOptions

if TYPE_CHECKING:
    from types import TracebackType

    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.conversation.live import Live
    from claude_wrapper.messages import Message
    from claude_wrapper.warm import WarmAgent

__all__ = ["ClaudeSDKClient"]


class ClaudeSDKClient(ClientRequests):
    """A conversation with one agent process, from `connect` to `disconnect`.

    Use it as an async context manager, or call the two. Its methods may be called from any task of the
    event loop that connected it, callbacks included; messages are read by one task at a time. Elsewhere
    they raise ClientUseError. Once the agent has failed, every further call raises the first failure.
    """

    def __init__(self, options: ClaudeAgentOptions | None = None, transport: Transport | None = None) -> None:
        self.options = options if options is not None else ClaudeAgentOptions()
        self._transport = transport
        self._live: Live | None = None
        self._connecting: Connecting | None = None

    # -- life

    @classmethod
    def from_warm(cls, warm: WarmAgent) -> ClaudeSDKClient:
        """Return a client that is connected to an agent which was started before.

        Raises ClientUseError when somebody uses that already.
        """
        client = cls(warm.options)
        client._live = warm.hand_over()
        client._live.watch(whole_run=False)
        return client

    async def connect(self, prompt: str | AsyncIterable[dict[str, Any]] | None = None) -> None:
        """Start the agent, shake hands, and send the first prompt if there is one.

        Raises OptionsError for options that contradict each other, CLINotFoundError without an
        executable, CLIConnectionError when the agent does not come up, with its exit code and last
        stderr lines where it has exited, ClientUseError while the client is connecting already, or when
        it is closed meanwhile.
        """
        if prompt is not None:
            check_prompts(prompt)
        if self._connecting is not None:
            raise ClientUseError("This client is connecting already; wait for that")
        self._connecting = connecting = Connecting()
        try:
            if self._live is not None:
                await self._live.close()
            self._live = await connecting.run(start_conversation(self.options, self._transport))
        finally:
            self._connecting = None
        self._live.watch(whole_run=False)
        if prompt is not None:
            await self.query(prompt)

    async def disconnect(self) -> None:
        """End the conversation: close the agent's input, wait, terminate, kill; bounded. May be repeated."""
        await self.close()

    async def close(self, timeout: float | None = None) -> None:
        """End the conversation as `disconnect` does; the agent has `timeout` seconds to end by itself."""
        check_grace(timeout)
        if self._connecting is not None:
            await self._connecting.call_off()
        live = self._live
        if live is not None:
            await live.close(timeout)
            if self._live is live:
                self._live = None

    async def __aenter__(self) -> ClaudeSDKClient:  # noqa: PYI034  # typing.Self is newer than 3.10
        if not self.alive:
            await self.connect()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool:
        await self.disconnect()
        return False

    def __del__(self) -> None:
        live = getattr(self, "_live", None)
        if live is not None and live.is_open:
            live.abandon()
            # A warning may be an error, so it comes last.
            text = f"the client of the agent {live.pid} was not closed"
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    @property
    def alive(self) -> bool:
        """Whether an agent runs for this client. Where it does not, `connect` starts another one."""
        return self._live is not None and self._live.is_alive

    @property
    def pid(self) -> int | None:
        """The agent's process id; None when there is no process."""
        return None if self._live is None else self._live.pid

    @property
    def session_id(self) -> str | None:
        """The session's id: as the agent has told it, or before that, as the options fix it."""
        told = None if self._live is None else self._live.session_id
        fixed = self.options.session_id or (None if self.options.fork_session else self.options.resume)
        return told or fixed

    def kill(self) -> None:
        """End the agent at once, from any thread. Whoever reads or waits is told by a ProcessError."""
        self._connected().kill()

    # -- talking

    async def query(
        self, prompt: str | AsyncIterable[dict[str, Any]], session_id: str = "default"
    ) -> str | None:
        """Send a prompt, or the `user` frames that an iterable gives until it ends.

        Returns the id of the last prompt that was sent, by which `cancel_prompt` knows it.
        """
        check_prompts(prompt)
        live = self._connected()
        live.adopt_context()
        if isinstance(prompt, str):
            return await live.send_prompt(prompt_frame(prompt, session_id), tag=True)
        prompt_id = None

        async def send(frame: dict[str, Any]) -> None:
            nonlocal prompt_id
            check_prompt(frame)
            prompt_id = await live.send_prompt({"session_id": session_id, **frame}, tag=True)

        await feed(prompt, send)
        return prompt_id

    def receive_messages(self) -> AsyncIterator[Message]:
        """Give all messages until the agent's output ends."""
        return self._connected().messages()

    def receive_response(self) -> AsyncIterator[Message]:
        """Give the messages of one turn, the last one its ResultMessage.

        Turns are given in the order of their prompts. What is left of a turn that `interrupt` ended is
        passed over when another prompt was sent since; results of turns that a background task started
        are passed over as well. Both are there in `receive_messages`.
        """
        return self._connected().response()

    def _connected(self) -> Live:
        if self._live is None:
            raise CLIConnectionError("Not connected: call connect() first, or use the client in `async with`")
        return self._live
