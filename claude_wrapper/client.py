"""The client: a conversation of many turns, with all that can be asked of a running agent."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any, cast

from claude_wrapper.conversation.prompts import check_prompt, prompt_frame
from claude_wrapper.conversation.start import start_conversation
from claude_wrapper.errors import CLIConnectionError
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.wire import requests_ask as ask
from claude_wrapper.wire import requests_steer as steer

if TYPE_CHECKING:
    from types import TracebackType

    from claude_wrapper.approval import PermissionMode
    from claude_wrapper.context_usage import ContextUsageResponse
    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.conversation.live import Live
    from claude_wrapper.mcp_status import McpStatusResponse
    from claude_wrapper.messages import Message

__all__ = ["ClaudeSDKClient"]


class ClaudeSDKClient:
    """A conversation with one agent process, from `connect` to `disconnect`.

    Use it as an async context manager, or call the two. Its methods may be called from any task of
    the event loop that connected it. Once the agent has failed, every further call raises the first
    failure. Methods that ask the agent raise ControlError when it refuses and ControlTimeoutError
    when it does not answer in time.
    """

    def __init__(self, options: ClaudeAgentOptions | None = None, transport: Transport | None = None) -> None:
        self.options = options if options is not None else ClaudeAgentOptions()
        self._transport = transport
        self._live: Live | None = None

    # -- life

    async def connect(self, prompt: str | AsyncIterable[dict[str, Any]] | None = None) -> None:
        """Start the agent, shake hands, and send the first prompt if there is one.

        Raises OptionsError for options that contradict each other, CLINotFoundError without an
        executable, CLIConnectionError when the agent does not come up, with its exit code and last
        stderr lines where it has exited.
        """
        if self._live is not None:
            await self.disconnect()
        self._live = await start_conversation(self.options, self._transport)
        if prompt is not None:
            await self.query(prompt)

    async def disconnect(self) -> None:
        """End the conversation: close the agent's input, wait, terminate, kill; bounded. May be repeated."""
        await self.close()

    async def close(self, timeout: float | None = None) -> None:
        """End the conversation as `disconnect` does; the agent has `timeout` seconds to end by itself."""
        live, self._live = self._live, None
        if live is not None:
            await live.close(timeout)

    async def __aenter__(self) -> ClaudeSDKClient:  # noqa: PYI034  # typing.Self is newer than 3.10
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

    @property
    def pid(self) -> int | None:
        """The agent's process id; None when there is no process."""
        return None if self._live is None else self._live.pid

    def kill(self) -> None:
        """End the agent at once. Whoever reads or waits is told by a ProcessError."""
        self._connected().kill()

    # -- talking

    async def query(self, prompt: str | AsyncIterable[dict[str, Any]], session_id: str = "default") -> None:
        """Send a prompt, or the `user` frames that an iterable gives until it ends."""
        live = self._connected()
        live.adopt_context()
        if isinstance(prompt, str):
            await live.send_prompt(prompt_frame(prompt, session_id), tag=True)
            return
        async for frame in prompt:
            check_prompt(frame)
            await live.send_prompt({"session_id": session_id, **frame}, tag=True)

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

    # -- asking

    async def interrupt(self) -> None:
        """Stop the running turn; its result follows. Harmless when no turn runs."""
        await self._connected().steering.interrupt()

    async def set_permission_mode(self, mode: PermissionMode) -> None:
        """Change how calls are decided that no rule covers."""
        await self._connected().request(steer.SetPermissionMode(mode=mode))

    async def set_model(self, model: str | None = None) -> None:
        """Use another model from the next request on; None: the agent's default."""
        await self._connected().request(steer.SetModel(model=model))

    async def rewind_files(self, user_message_id: str) -> None:
        """Put files back to how they were at a prompt; needs `enable_file_checkpointing`."""
        await self._connected().request(steer.RewindFiles(user_message_id=user_message_id))

    async def reconnect_mcp_server(self, server_name: str) -> None:
        """Connect a tool server again."""
        await self._connected().request(ask.McpReconnect(server_name=server_name))

    async def toggle_mcp_server(self, server_name: str, enabled: bool) -> None:
        """Switch a tool server on or off."""
        await self._connected().request(ask.McpToggle(server_name=server_name, enabled=enabled))

    async def stop_task(self, task_id: str) -> None:
        """Stop a background task; its TaskNotificationMessage follows."""
        await self._connected().request(steer.StopTask(task_id=task_id))

    async def get_mcp_status(self) -> McpStatusResponse:
        """Return the state of the tool servers."""
        return cast("McpStatusResponse", await self._connected().request(ask.McpStatus()))

    async def get_context_usage(self) -> ContextUsageResponse:
        """Return what fills the context window."""
        return cast("ContextUsageResponse", await self._connected().request(ask.GetContextUsage()))

    async def get_server_info(self) -> dict[str, Any] | None:
        """Return the agent's answer to the handshake: commands, models, output styles and more."""
        return self._connected().server_info

    # -- parts

    def _connected(self) -> Live:
        if self._live is None:
            raise CLIConnectionError("Not connected: call connect() first, or use the client in `async with`")
        return self._live
