"""The client with plain methods: each waits until that of the asynchronous one is done."""

from __future__ import annotations

import functools
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from claude_wrapper.client import ClaudeSDKClient as AsyncClient
from claude_wrapper.errors import CLIConnectionError
from claude_wrapper.options import ClaudeAgentOptions

from .blocking_query import END, next_or_end
from .loop_thread import ConversationClosedError, LoopThread
from .plain_callbacks import Prompts, async_options, async_prompts, async_servers

if TYPE_CHECKING:
    from types import TracebackType

    from claude_wrapper.client_answers import McpSetServersResult
    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.mcp_config import McpServerConfig
    from claude_wrapper.messages import Message

__all__ = ["ClaudeSDKClient", "Started"]

T = TypeVar("T")
P = ParamSpec("P")


class Started(Protocol):
    """An agent that was started before, in the thread of its conversation."""

    options: ClaudeAgentOptions
    owns_loop: bool
    """Whether the thread ends with the conversation."""

    def hand_over(self) -> tuple[LoopThread, AsyncClient]:
        """Give the conversation to the one who will have it."""


def _blocking(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[ClaudeSDKClient, P], T]:
    """Make a plain method of an asynchronous one."""

    @functools.wraps(method)
    def call(self: ClaudeSDKClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        loop, client = self._connected()
        return loop.call(functools.partial(method, client, *args, **kwargs))

    return call


class ClaudeSDKClient:
    """A conversation with one agent process, as `claude_wrapper.ClaudeSDKClient`, for programs without a loop.

    Its methods may be called from any thread, plain callbacks included: one thread may read messages
    while another interrupts. A call that is left by Ctrl+C is cancelled, and the conversation goes on.
    """

    def __init__(self, options: ClaudeAgentOptions | None = None, transport: Transport | None = None) -> None:
        self.options = options if options is not None else ClaudeAgentOptions()
        self._transport = transport
        self._open: tuple[LoopThread, AsyncClient] | None = None
        self._owns_loop = True

    # -- life

    @classmethod
    def from_warm(cls, warm: Started) -> ClaudeSDKClient:
        """Return a client that is connected to an agent which was started before, by `startup`.

        Raises ClientUseError when somebody uses that already.
        """
        client = cls(warm.options)
        client._open = warm.hand_over()
        client._owns_loop = warm.owns_loop
        return client

    def connect(self, prompt: Prompts | None = None) -> None:
        """Start the agent, shake hands, and send the first prompt if there is one."""
        self.disconnect()
        loop = LoopThread()
        try:
            client = AsyncClient(async_options(self.options, loop.abort), self._transport)
            loop.at_the_end = client.close
            loop.call(client.connect, None if prompt is None else async_prompts(prompt, loop.abort))
        except BaseException:
            loop.close()
            raise
        self._open = loop, client
        self._owns_loop = True

    def disconnect(self) -> None:
        """End the conversation: close the agent's input, wait, terminate, kill; bounded. May be repeated."""
        self.close()

    def close(self, timeout: float | None = None) -> None:
        """End the conversation as `disconnect` does; the agent has `timeout` seconds to end by itself."""
        conversation, self._open = self._open, None
        if conversation is None:
            return
        loop, client = conversation
        try:
            loop.call(client.close, timeout)
        finally:
            if self._owns_loop:
                loop.close()

    def __enter__(self) -> ClaudeSDKClient:  # noqa: PYI034  # typing.Self is newer than 3.10
        if not self.alive:
            self.connect()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.disconnect()

    def __del__(self) -> None:
        conversation = getattr(self, "_open", None)
        if conversation is not None and self._owns_loop and conversation[0].is_running:
            loop, client = conversation
            loop.stop()
            # A warning may be an error, so it comes last.
            text = f"the client of the agent {client.pid} was not closed"
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    @property
    def alive(self) -> bool:
        """Whether an agent runs for this client. Where it does not, `connect` starts another one."""
        return self._open is not None and self._open[1].alive

    @property
    def pid(self) -> int | None:
        """The agent's process id; None when there is no process."""
        return None if self._open is None else self._open[1].pid

    @property
    def session_id(self) -> str | None:
        """The session's id: as the agent has told it, or before that, as the options fix it."""
        client = AsyncClient(self.options) if self._open is None else self._open[1]
        return client.session_id

    def kill(self) -> None:
        """End the agent at once, from any thread. Whoever reads or waits is told by a ProcessError."""
        self._connected()[1].kill()

    # -- talking

    def query(self, prompt: Prompts, session_id: str = "default") -> str | None:
        """Send a prompt, or the `user` frames that an iterable gives until it ends.

        Returns the id of the last prompt that was sent, by which `cancel_prompt` knows it.
        """
        loop, client = self._connected()
        return loop.call(client.query, async_prompts(prompt, loop.abort), session_id)

    def receive_messages(self) -> Iterator[Message]:
        """Give all messages until the agent's output ends."""
        return self._iterated(AsyncClient.receive_messages)

    def receive_response(self) -> Iterator[Message]:
        """Give the messages of one turn, the last one its ResultMessage."""
        return self._iterated(AsyncClient.receive_response)

    # -- asking

    request = _blocking(AsyncClient.request)
    interrupt = _blocking(AsyncClient.interrupt)
    cancel_prompt = _blocking(AsyncClient.cancel_prompt)
    set_permission_mode = _blocking(AsyncClient.set_permission_mode)
    set_model = _blocking(AsyncClient.set_model)
    set_max_thinking_tokens = _blocking(AsyncClient.set_max_thinking_tokens)
    apply_flag_settings = _blocking(AsyncClient.apply_flag_settings)
    get_settings = _blocking(AsyncClient.get_settings)
    reload_plugins = _blocking(AsyncClient.reload_plugins)
    rewind_files = _blocking(AsyncClient.rewind_files)
    rename_session = _blocking(AsyncClient.rename_session)
    get_mcp_status = _blocking(AsyncClient.get_mcp_status)
    reconnect_mcp_server = _blocking(AsyncClient.reconnect_mcp_server)
    toggle_mcp_server = _blocking(AsyncClient.toggle_mcp_server)
    stop_task = _blocking(AsyncClient.stop_task)
    background_tasks = _blocking(AsyncClient.background_tasks)
    get_task_output = _blocking(AsyncClient.get_task_output)
    get_server_info = _blocking(AsyncClient.get_server_info)
    list_commands = _blocking(AsyncClient.list_commands)
    list_agents = _blocking(AsyncClient.list_agents)
    account_info = _blocking(AsyncClient.account_info)
    list_models = _blocking(AsyncClient.list_models)
    get_context_usage = _blocking(AsyncClient.get_context_usage)
    get_usage = _blocking(AsyncClient.get_usage)
    get_session_cost = _blocking(AsyncClient.get_session_cost)

    def set_mcp_servers(
        self, servers: Mapping[str, McpServerConfig], *, timeout: float | None = None
    ) -> McpSetServersResult:
        """Put these tool servers in place of those that were set in this way before.

        Servers in this program are taken too. Name those of the option `mcp_servers` again that shall
        stay: Claude Code drops the ones in this program that are missing.
        """
        loop, client = self._connected()
        given = async_servers(servers, loop.abort)
        return loop.call(functools.partial(client.set_mcp_servers, given, timeout=timeout))

    # -- parts

    def _connected(self) -> tuple[LoopThread, AsyncClient]:
        if self._open is None:
            raise CLIConnectionError("Not connected: call connect() first, or use the client in `with`")
        return self._open

    def _iterated(self, method: Callable[[AsyncClient], AsyncIterator[Message]]) -> Iterator[Message]:
        loop, client = self._connected()

        async def started() -> AsyncIterator[Message]:
            return method(client)

        return _Messages(loop, loop.call(started))


class _Messages:
    """What a client gives, one blocking call for each; leaving it early needs no cleaning up."""

    def __init__(self, loop: LoopThread, messages: AsyncIterator[Message]) -> None:
        self._loop = loop
        self._messages = messages

    def __iter__(self) -> _Messages:
        return self

    def __next__(self) -> Message:
        try:
            message = self._loop.call(next_or_end, self._messages)
        except ConversationClosedError:
            message = END
        if message is END:
            raise StopIteration
        return message  # type: ignore[no-any-return]  # END is of any type
