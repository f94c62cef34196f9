"""An agent that is started as the library starts it, as a transport."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from claude_wrapper.conversation.channels import Transport
from claude_wrapper.errors import OptionsError
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.process import AgentProcess
from claude_wrapper.spawn.start import start_agent
from claude_wrapper.wire.codec import decode_object
from claude_wrapper.wire.framing import DEFAULT_LIMIT, Line, LineSplitter, OversizeLine

__all__ = ["AgentTransport"]

_EXIT_SECONDS = 5.0
"""How long an agent that has closed its output may take to exit."""


class AgentTransport(Transport):
    """Starts an agent for options, and reads its frames."""

    def __init__(self, options: ClaudeAgentOptions) -> None:
        self._options = options
        self._process: AgentProcess | None = None
        self._lines: deque[Line] = deque()
        self._splitter = LineSplitter(options.max_buffer_size or DEFAULT_LIMIT)
        self._is_over = False

    async def connect(self) -> None:
        if self._options.session_store is not None and (
            self._options.resume or self._options.continue_conversation
        ):
            raise OptionsError("A run that goes on with a session of a session store cannot be recorded")
        self._process, _ = start_agent(self._options)

    async def write(self, data: str) -> None:
        await self._started.send(data.encode())

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self

    def __aiter__(self) -> AgentTransport:
        return self

    async def __anext__(self) -> dict[str, Any]:
        while True:
            while self._lines:
                frame = _frame_of(self._lines.popleft())
                if frame is not None:
                    return frame
            if self._is_over:
                await self._started.wait(_EXIT_SECONDS)
                raise StopAsyncIteration
            data = await self._started.receive()
            self._is_over = not data
            self._lines += self._splitter.feed(data) if data else self._splitter.finish()

    async def end_input(self) -> None:
        await self._started.end_input()

    async def close(self) -> None:
        if self._process is not None:
            await self._process.stop()

    def is_ready(self) -> bool:
        return self._process is not None

    def kill(self) -> None:
        self._started.kill()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.returncode

    @property
    def stderr_tail(self) -> str:
        return "" if self._process is None else self._process.stderr_tail

    @property
    def _started(self) -> AgentProcess:
        assert self._process is not None, "connect() comes first"
        return self._process


def _frame_of(line: Line) -> dict[str, Any] | None:
    """Return the frame in a line; what is none would be passed over by a conversation as well."""
    if isinstance(line, OversizeLine) or not line.strip():
        return None
    try:
        return decode_object(line)
    except msgspec.DecodeError:
        return None
