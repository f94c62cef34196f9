"""A pool of agents that are started ahead, so that conversations begin without the wait for one."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from claude_wrapper.client import ClaudeSDKClient
from claude_wrapper.conversation.background import Background
from claude_wrapper.conversation.changes import Changes
from claude_wrapper.conversation.home import Home
from claude_wrapper.conversation.run import Run
from claude_wrapper.errors import ClientUseError, OptionsError
from claude_wrapper.option_conflicts import validate
from claude_wrapper.option_shapes import is_positive
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.warm import WarmAgent, startup

if TYPE_CHECKING:
    from types import TracebackType

    from claude_wrapper.conversation.live import Live
    from claude_wrapper.messages import Message

__all__ = ["AgentPool"]

logger = logging.getLogger("claude_wrapper.pool")


class AgentPool:
    """Keeps `size` agents ready, and runs at most `limit` at once, those in use included.

        async with AgentPool(options, size=2, limit=8) as pool:
            async for message in pool.query("..."):
                ...
            async with pool.client() as client:
                ...

    Each conversation has an agent of its own, which ends with it; another one is then made ready. Whoever
    comes while `limit` agents are in use waits for his turn, first come, first served. Agents that nobody
    needs for `idle_timeout` seconds are ended, and made ready again with the next conversation. Leaving the
    `async with` ends all agents, those in use too.
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
        self._size = _whole("size", size)
        self._limit = max(4 * size, 8) if limit is None else _whole("limit", limit)
        self._idle_timeout = idle_timeout
        self._check()
        self._running: _Running | None = None

    def _check(self) -> None:
        """Raise OptionsError for what can be no pool."""
        validate(self._options)
        if not 1 <= self._size <= self._limit:
            raise OptionsError(
                f"A pool needs 1 <= size <= limit, got size={self._size} and limit={self._limit}"
            )
        if self._idle_timeout is not None and not is_positive(self._idle_timeout):
            raise OptionsError(f"idle_timeout must be a number greater than 0, got {self._idle_timeout!r}")
        options = self._options
        goes_on = options.resume or options.continue_conversation
        if options.session_id or (goes_on and not options.fork_session):
            raise OptionsError("The agents of a pool cannot share a session; leave out what names one")

    async def __aenter__(self) -> AgentPool:  # noqa: PYI034  # typing.Self is newer than 3.10
        if self._running is not None:
            raise ClientUseError("This pool is open already")
        self._running = _Running(self._options, self._size, self._limit, self._idle_timeout)
        self._running.refill()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.close()

    @property
    def ready(self) -> int:
        """How many agents wait for a conversation."""
        return 0 if self._running is None else len(self._running.ready)

    @property
    def in_use(self) -> int:
        """How many agents have a conversation."""
        return 0 if self._running is None else len(self._running.used)

    def query(self, prompt: str | AsyncIterable[dict[str, Any]]) -> AsyncIterator[Message]:
        """Run an agent of the pool on a prompt, as `claude_wrapper.query` does with one that it starts."""
        taken: list[tuple[_Running, WarmAgent]] = []

        async def take() -> Live:
            running = self._open()
            agent = await running.acquire()
            taken.append((running, agent))
            return agent.hand_over()

        async def give_back() -> None:
            while taken:
                running, agent = taken.pop()
                await running.release(agent)

        return Run(prompt, take, give_back)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[ClaudeSDKClient]:
        """Give a connected client with an agent of the pool; the agent ends with the block."""
        running = self._open()
        agent = await running.acquire()
        try:
            yield ClaudeSDKClient.from_warm(agent)
        finally:
            await running.release(agent)

    def _open(self) -> _Running:
        if self._running is None:
            raise ClientUseError("This pool is not open: use it in `async with`")
        return self._running


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise OptionsError(f"{name} must be a whole number, got {value!r}")
    return value


class _Running:
    """An open pool."""

    def __init__(
        self, options: ClaudeAgentOptions, size: int, limit: int, idle_timeout: float | None
    ) -> None:
        self._options = options
        self._size = size
        self._limit = limit
        self._idle_timeout = idle_timeout
        self._home = Home("This pool")
        self._background = Background()
        self._changes = Changes()
        self._places = anyio.Semaphore(limit, max_value=limit)
        self._starting = 0
        self._waiting = 0
        self._failures: list[Exception] = []
        """Why agents could not be started for those who wait."""
        self._closed = False
        self.ready: deque[tuple[WarmAgent, float]] = deque()
        """Each with the time since when it waits."""
        self.used: set[WarmAgent] = set()
        if idle_timeout is not None:
            self._background.start(self._end_idle_ones, idle_timeout)

    async def acquire(self) -> WarmAgent:
        """Take an agent that is ready, or wait for one."""
        self._home.check()
        await self._places.acquire()
        self._waiting += 1
        try:
            agent = await self._next()
        except BaseException:
            self._places.release()
            raise
        finally:
            self._waiting -= 1
        self.used.add(agent)
        self.refill()
        return agent

    async def release(self, agent: WarmAgent) -> None:
        """End an agent whose conversation is over."""
        try:
            await agent.close()
        finally:
            self.used.discard(agent)
            self._places.release()
            self.refill()
            self._changes.tell()

    def refill(self) -> None:
        """Start agents, as many as are missing and allowed."""
        wanted = self._size + self._waiting
        while not self._closed and len(self.ready) + self._starting < wanted and self._has_room:
            self._starting += 1
            self._background.start(self._make_ready)

    async def close(self) -> None:
        """End all agents."""
        if not self._home.is_of_this_process:
            return
        self._closed = True
        self._changes.tell()
        await self._background.stop()
        agents = [*(agent for agent, _ in self.ready), *self.used]
        self.ready.clear()
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for agent in agents:
                    tasks.start_soon(agent.close)

    @property
    def _has_room(self) -> bool:
        return len(self.ready) + len(self.used) + self._starting < self._limit

    async def _next(self) -> WarmAgent:
        while not self._closed:
            while self.ready:
                agent, _ = self.ready.popleft()
                if agent.alive:
                    return agent
                await agent.close()
            if self._failures:
                raise self._failures.pop()
            self.refill()
            await self._changes.until(lambda: bool(self.ready or self._failures) or self._closed)
        raise ClientUseError("This pool was closed")

    async def _make_ready(self) -> None:
        try:
            agent = await startup(self._options)
        except Exception as error:
            # Whoever waits is told; without him the next conversation tries again.
            logger.warning("no agent could be made ready: %s", error, exc_info=True)
            if len(self._failures) < self._waiting:
                self._failures.append(error)
        else:
            self.ready.append((agent, anyio.current_time()))
        finally:
            self._starting -= 1
            self._changes.tell()

    async def _end_idle_ones(self, seconds: float) -> None:
        while True:
            await self._changes.until(lambda: bool(self.ready))
            agent, since = self.ready[0]
            left = since + seconds - anyio.current_time()
            if left > 0:
                await anyio.sleep(left)
            elif self.ready and self.ready[0][0] is agent:
                self.ready.popleft()
                await agent.close()
