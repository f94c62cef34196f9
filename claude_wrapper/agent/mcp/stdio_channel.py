"""An MCP server as a program of its own: started on first use, spoken to in lines over its stdin and stdout."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from claude_wrapper.agent.processes.child import Child, Pump, start
from claude_wrapper.wire.codec import encode_line
from claude_wrapper.wire.framing import LineSplitter

from .channel import Listener, McpChannelError
from .dialogue import GONE, Dialogue, Reply

__all__ = ["StdioChannel"]

_END_SECONDS = 0.5


class StdioChannel(Dialogue):
    """Carries messages to one server. Its process ends with `close`, at the latest with the agent."""

    def __init__(
        self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str], listener: Listener
    ) -> None:
        super().__init__(listener)
        self._argv = list(argv)
        self._cwd = cwd
        self._environment = dict(environment)
        self._child: Child | None = None
        self._stdin = -1
        self._pumps: list[Pump] = []
        self._lines = LineSplitter()
        self._writing = anyio.Lock()

    async def close(self) -> None:
        """End the server: by the end of its input, or by force."""
        child, self._child = self._child, None
        self._fail(GONE)
        if child is not None:
            with contextlib.suppress(OSError):
                os.close(self._stdin)
            with anyio.move_on_after(_END_SECONDS):
                await child.wait()
            await child.stop()
            for pump in self._pumps:
                pump.detach()
            child.close_pipes()
        await self._end_tasks()

    async def _send(self, message: dict[str, Any], reply: Reply | None) -> None:
        self._begin()
        async with self._writing:
            data = memoryview(encode_line(message))
            while data:
                if self._over:
                    raise McpChannelError(GONE)
                try:
                    data = data[os.write(self._stdin, data) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._stdin)
                except OSError as error:
                    raise McpChannelError(GONE) from error

    def _begin(self) -> None:
        if self._over:
            raise McpChannelError(GONE)
        if self._child is not None:
            return
        reading, self._stdin = os.pipe()
        try:
            self._child = start(
                self._argv,
                cwd=self._cwd,
                environment=self._environment,
                separate_stderr=True,
                stdin=reading,
            )
        except (OSError, ValueError) as error:
            os.close(self._stdin)
            self._over = True
            raise McpChannelError(
                f"it cannot be started: {getattr(error, 'strerror', None) or error}"
            ) from error
        finally:
            os.close(reading)
        os.set_blocking(self._stdin, False)
        assert self._child.stderr is not None
        self._pumps = [Pump(self._child.stdout, self._read), Pump(self._child.stderr, lambda _: None)]
        self._start(self._until_end(self._pumps[0]))

    async def _until_end(self, output: Pump) -> None:
        await output.ended.wait()
        self._fail(GONE)

    def _read(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            # What is no message, say a line that the program logs, is not ours to judge.
            if isinstance(line, bytes):
                self._take_encoded(line)
