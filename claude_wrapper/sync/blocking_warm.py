"""Agents that are started before there is anything to do, and a pool of them, with plain methods."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from claude_wrapper.client import ClaudeSDKClient as AsyncClient
from claude_wrapper.errors import ClientUseError
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.pool import AgentPool as AsyncPool
from claude_wrapper.warm import WarmAgent as AsyncWarmAgent
from claude_wrapper.warm import startup as start_up

from .blocking_client import ClaudeSDKClient
from .blocking_query import messages_of
from .loop_thread import ConversationClosedError, LoopThread
from .plain_callbacks import Prompts, async_options, async_prompts

if TYPE_CHECKING:
    from types import TracebackType

    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.conversation.run import Run
    from claude_wrapper.messages import Message

__all__ = ["AgentPool", "WarmAgent", "startup"]


def startup(options: ClaudeAgentOptions | None = None, *, transport: Transport | None = None) -> WarmAgent:
    """Start an agent and shake hands with it, for a prompt that comes later.

    Raises what `ClaudeSDKClient.connect` raises. Whoever gets it uses or closes it:

        with startup(options) as warm:
            for message in warm.query(input("What shall it do? ")):
                ...
    """
    given = options if options is not None else ClaudeAgentOptions()
    loop = LoopThread()
    try:
        warm = loop.call(lambda: start_up(async_options(given, loop.abort), transport=transport))
        loop.at_the_end = warm.close
    except BaseException:
        loop.close()
        raise
    return WarmAgent(given, loop, warm)


class WarmAgent:
    """A started agent that waits for its one conversation: `query`, or `ClaudeSDKClient.from_warm`."""

    owns_loop = True

    def __init__(self, options: ClaudeAgentOptions, loop: LoopThread, warm: AsyncWarmAgent) -> None:
        self.options = options
        """What it was started with."""
        self._loop = loop
        self._warm = warm
        self._taken = False

    @property
    def alive(self) -> bool:
        """Whether the agent runs."""
        return self._warm.alive

    @property
    def pid(self) -> int | None:
        """The agent's process id."""
        return self._warm.pid

    @property
    def server_info(self) -> dict[str, Any]:
        """The agent's answer to the handshake."""
        return self._warm.server_info

    def query(self, prompt: Prompts) -> Iterator[Message]:
        """Run the agent on a prompt, as `claude_wrapper.sync.query` does with one that it starts."""
        try:
            yield from _messages(self._loop, self._warm.query(async_prompts(prompt, self._loop.abort)))
        finally:
            self.close()

    def hand_over(self) -> tuple[LoopThread, AsyncClient]:
        """Give the conversation to the one who will have it; ClientUseError when somebody has it already."""

        async def client() -> AsyncClient:
            return AsyncClient.from_warm(self._warm)

        taker = self._loop.call(client)
        # Held by the loop until that has ended: freed before, it would complain a second time.
        self._loop.at_the_end = taker.close
        self._taken = True
        return self._loop, taker

    def __del__(self) -> None:
        if not getattr(self, "_taken", True) and self._loop.is_running:
            self._loop.stop()
            text = f"the agent {self.pid} was not closed"
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    def kill(self) -> None:
        """End the agent at once, from any thread. Whoever reads its messages is told by a ProcessError."""
        self._warm.kill()

    def close(self, timeout: float | None = None) -> None:
        """End the agent, in use or not; it has `timeout` seconds to end by itself. May be repeated."""
        try:
            with suppress(ConversationClosedError):
                self._loop.call(self._warm.close, timeout)
        finally:
            self._loop.close()

    def __enter__(self) -> WarmAgent:  # noqa: PYI034  # typing.Self is newer than 3.10
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()


class AgentPool:
    """Keeps `size` agents ready, and runs at most `limit` at once, as `claude_wrapper.AgentPool`.

        with AgentPool(options, size=2, limit=8) as pool:
            for message in pool.query("..."):
                ...
            with pool.client() as client:
                ...

    It may be used by many threads at once.
    """

    def __init__(
        self,
        options: ClaudeAgentOptions | None = None,
        size: int = 1,
        *,
        limit: int | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        self._options = options if options is not None else ClaudeAgentOptions()
        self._shape: dict[str, Any] = {"size": size, "limit": limit, "idle_timeout": idle_timeout}
        # What can be no pool is refused here, as there.
        AsyncPool(self._options, **self._shape)
        self._running: tuple[LoopThread, AsyncPool] | None = None

    def __enter__(self) -> AgentPool:  # noqa: PYI034  # typing.Self is newer than 3.10
        if self._running is not None:
            raise ClientUseError("This pool is open already")
        loop = LoopThread()
        try:
            pool = AsyncPool(async_options(self._options, loop.abort), **self._shape)
            loop.call(pool.__aenter__)
        except BaseException:
            loop.close()
            raise

        async def close() -> None:
            await pool.__aexit__(None, None, None)

        loop.at_the_end = close
        self._running = loop, pool
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        running, self._running = self._running, None
        if running is not None:
            running[0].close()

    @property
    def ready(self) -> int:
        """How many agents wait for a conversation."""
        return 0 if self._running is None else self._running[1].ready

    @property
    def in_use(self) -> int:
        """How many agents have a conversation."""
        return 0 if self._running is None else self._running[1].in_use

    def query(self, prompt: Prompts) -> Iterator[Message]:
        """Run an agent of the pool on a prompt, as `claude_wrapper.sync.query` does with one that it starts."""
        loop, pool = self._open()
        yield from _messages(loop, pool.query(async_prompts(prompt, loop.abort)))

    @contextmanager
    def client(self) -> Iterator[ClaudeSDKClient]:
        """Give a connected client with an agent of the pool; the agent ends with the block."""
        loop, pool = self._open()
        lent = pool.client()
        client = loop.call(lent.__aenter__)
        try:
            yield ClaudeSDKClient.from_warm(_Lent(loop, client))
        finally:
            with suppress(ConversationClosedError):
                loop.call(lent.__aexit__, None, None, None)

    def _open(self) -> tuple[LoopThread, AsyncPool]:
        if self._running is None:
            raise ClientUseError("This pool is not open: use it in `with`")
        return self._running


class _Lent:
    """A connected client of a pool, whose thread serves other clients too."""

    owns_loop = False

    def __init__(self, loop: LoopThread, client: AsyncClient) -> None:
        self.options = client.options
        self._conversation = loop, client

    def hand_over(self) -> tuple[LoopThread, AsyncClient]:
        return self._conversation


def _messages(loop: LoopThread, messages: Any) -> Iterator[Message]:
    run = cast("Run", messages)
    try:
        yield from messages_of(loop, run)
    finally:
        with suppress(ConversationClosedError):
            loop.call(run.aclose)
