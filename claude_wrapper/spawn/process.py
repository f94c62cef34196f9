"""A running agent: bytes both ways, its end, and ending it."""

from __future__ import annotations

import logging
from collections import deque
from typing import NamedTuple

import anyio
from anyio import lowlevel

from .custody import Custody
from .pipes import AgentPipes, InputPipe
from .stderr import StderrSink

__all__ = ["AgentProcess", "Grace"]

logger = logging.getLogger("claude_wrapper.spawn")

_KILLED_SECONDS = 2.0
"""How long a killed process may take to be gone; only a stuck kernel needs it."""

_ORPHAN_SECONDS = 0.5
"""How long what the agent has started may take to end once the agent has ended."""

_KEPT_BYTES = 4 * 1024 * 1024
"""How much output is kept for a reader while an agent is being stopped."""


class Grace(NamedTuple):
    """How many seconds an agent has to end by itself, and then once more after SIGTERM."""

    eof: float = 5.0
    terminate: float = 5.0


class AgentProcess:
    """A process that was started as an agent.

    One task at a time may read; any may write, wait and stop. All run in one event loop; `kill`
    and the properties need none.
    """

    def __init__(
        self, custody: Custody, pipes: AgentPipes, stdin: InputPipe, stderr: StderrSink, grace: Grace
    ) -> None:
        self._custody = custody
        self._pipes = pipes
        self._stdin = stdin
        self._stderr = stderr
        self._grace = grace
        self._exit_code: int | None = None
        self._reading = False
        self._stopping = False
        self._kept: deque[bytes] = deque()
        self._events = anyio.Lock()
        self._stop_lock = anyio.Lock()

    # -- what it is

    @property
    def pid(self) -> int:
        """Its process id, which on POSIX is also that of its process group."""
        return self._custody.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._custody.poll() if self._exit_code is None else self._exit_code

    @property
    def stderr_tail(self) -> str:
        """The last lines that it wrote to stderr."""
        return self._stderr.tail

    # -- bytes

    async def receive(self) -> bytes:
        """Return the next bytes of its stdout, b"" at the end.

        The end is that of the agent: a process that it has started and that holds its stdout open
        keeps no reader waiting.
        """
        await lowlevel.checkpoint_if_cancelled()
        data = self._next_output()
        if data is not None:
            # Output may come without a pause, and others want to run too.
            await lowlevel.cancel_shielded_checkpoint()
            return data
        self._reading = True
        self._pipes.watch_output(True)
        try:
            async with self._events:
                while True:
                    has_ended = self._has_ended
                    data = self._next_output()
                    if data is not None or has_ended:
                        return data or b""
                    await self._next_event()
        finally:
            self._reading = False

    async def send(self, data: bytes) -> None:
        """Write to its stdin; raises CLIConnectionError when it cannot take more."""
        await self._stdin.send(data)

    async def end_input(self) -> None:
        """Close its stdin, after what is being written."""
        await self._stdin.close()

    # -- its end

    async def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its exit code; None when it still runs after `timeout` seconds.

        Somebody has to read its output meanwhile, or an agent with much to say never comes to its end.
        """
        with anyio.move_on_after(timeout):
            await self._exited()
        return self._exit_code

    async def stop(self, grace: float | None = None) -> int | None:
        """End it and all it has started, and return its exit code.

        Its input is closed; after `grace` seconds it gets SIGTERM, and in the end it is killed. That
        takes at most both times of its Grace and three seconds, and no cancellation cuts it short.
        None means that not even the system could end it.
        """
        self._stopping = True
        with anyio.CancelScope(shield=True):
            async with self._stop_lock:
                if not self._custody.is_released:
                    await self._stop(self._grace.eof if grace is None else grace)
                    await self._end_orphans()
                    self._close()
        return self._exit_code

    def kill(self) -> None:
        """End it and all it has started, at once. May be called from any thread."""
        self._custody.kill()

    async def _stop(self, eof: float) -> None:
        with anyio.move_on_after(eof):
            await self._stdin.close()
            await self._exited()
        self._stdin.close_now()
        if self._exit_code is None:
            self._custody.terminate()
            with anyio.move_on_after(self._grace.terminate):
                await self._exited()
        if self._exit_code is None:
            logger.debug("the agent %s did not end in time and is killed", self.pid)
            self._custody.kill()
            with anyio.move_on_after(_KILLED_SECONDS):
                await self._exited()

    async def _exited(self) -> None:
        while not self._has_ended:
            async with self._events:
                if not self._has_ended:
                    await self._next_event()

    async def _end_orphans(self) -> None:
        """What the agent has started was told to end when the agent ended; kill what is left."""
        await self._company_has_gone()
        if self._custody.has_company():
            self._custody.kill()
            await self._company_has_gone()

    async def _company_has_gone(self) -> None:
        with anyio.move_on_after(_ORPHAN_SECONDS):
            while self._custody.has_company():  # noqa: ASYNC110  # the system tells nobody when a group is empty
                await anyio.sleep(0.01)

    def _close(self) -> None:
        self._keep_output()
        anyio.notify_closing(self._pipes.waitable)
        self._custody.release()

    # -- what happens; only the holder of `_events` waits, and looks after everything for everybody

    @property
    def _has_ended(self) -> bool:
        return self._exit_code is not None or self._custody.is_released

    async def _next_event(self) -> None:
        self._pipes.watch_output(self._reading or self._stopping)
        try:
            await anyio.wait_readable(self._pipes.waitable)
        except anyio.ClosedResourceError:
            return
        self._pipes.take_events()
        self._read_errors()
        if self._stopping:
            self._keep_output()
        if self._pipes.has_exited and self._exit_code is None:
            self._stderr.finish()
            self._exit_code = self._custody.reap()

    def _next_output(self) -> bytes | None:
        if self._kept:
            return self._kept.popleft()
        return b"" if self._custody.is_released else self._pipes.read_output()

    def _keep_output(self) -> None:
        """Take the output of an agent that is being stopped, so that it does not wait for a reader."""
        while data := self._pipes.read_output():
            if sum(map(len, self._kept)) < _KEPT_BYTES:
                self._kept.append(data)
            else:
                logger.debug("%s bytes of output of the stopped agent are dropped", len(data))

    def _read_errors(self) -> None:
        """Take one chunk, so that a flood does not hold up the rest; all of it once the agent has ended."""
        while data := self._pipes.read_errors():
            self._stderr.feed(data)
            if not self._pipes.has_exited:
                break
