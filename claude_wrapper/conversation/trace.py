"""Writes every frame of a conversation to a file, for bug reports, when the environment asks for it.

The variable CLAUDE_WRAPPER_TRACE names the file. Each line of it is a JSON object with the time, the
agent's process id, the direction (`out` is to the agent, `in` from it) and the frame, or what else was
read. Secrets are masked, and only the user may read the file; what was said is in it all the same.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

import msgspec

from claude_wrapper.wire.codec import decode_object, encode_line
from claude_wrapper.wire.framing import LineSplitter, OversizeLine

from .channels import AgentChannel
from .masking import Mask

__all__ = ["TRACE_VARIABLE", "traced"]

logger = logging.getLogger("claude_wrapper.conversation")

TRACE_VARIABLE = "CLAUDE_WRAPPER_TRACE"


def traced(channel: AgentChannel, variables: Iterable[Mapping[str, str]]) -> AgentChannel:
    """Return the channel, with a trace of it where one is wanted.

    `variables` are those whose secrets may turn up. A file that cannot be written costs the trace, and
    a warning, not the conversation.
    """
    path = os.environ.get(TRACE_VARIABLE)
    if not path:
        return channel
    try:
        descriptor = _open(path)
    except OSError as error:
        logger.warning("%s names %s, which cannot be written: %s", TRACE_VARIABLE, path, error)
        return channel
    return _TracedChannel(channel, _TraceFile(descriptor, channel.pid, Mask(variables)))


def _open(path: str) -> int:
    # A link in a folder where others may write could lead anywhere, and a pipe would keep us waiting.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no file")
        if os.name == "posix":
            os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class _TraceFile:
    """Appends lines, each in one write, so that several conversations can share the file."""

    def __init__(self, descriptor: int, pid: int | None, mask: Mask) -> None:
        self._descriptor = descriptor
        self._pid = pid
        self._mask = mask
        self._closed = False

    def line(self, direction: str, line: bytes) -> None:
        """Write down one line of the protocol; what is no JSON object as its text."""
        try:
            self.note(direction, frame=decode_object(line))
        except msgspec.DecodeError:
            self.note(direction, text=line.decode("utf-8", "replace"))

    def note(self, event: str, **facts: Any) -> None:
        """Write down something."""
        if self._closed:
            return
        now = datetime.now(timezone.utc).isoformat(timespec="microseconds")
        record = {"at": now, "agent": self._pid, "is": event, **self._mask.value(facts)}
        with contextlib.suppress(OSError):
            os.write(self._descriptor, encode_line(record))

    def close(self) -> None:
        """Write nothing more."""
        if not self._closed:
            self._closed = True
            os.close(self._descriptor)

    def __del__(self) -> None:
        self.close()


class _TracedChannel:
    """Passes everything on, and has it written down."""

    def __init__(self, channel: AgentChannel, file: _TraceFile) -> None:
        self._channel = channel
        self._file = file
        self._splitter = LineSplitter()
        self._ends = 0
        file.note("start")

    async def receive(self) -> bytes:
        data = await self._channel.receive()
        for line in self._splitter.feed(data) if data else self._splitter.finish():
            if isinstance(line, OversizeLine):
                self._file.note("in", text=line.head.decode("utf-8", "replace"), size=line.size)
            elif line:
                self._file.line("in", line)
        if not data:
            self._file.note("end of output")
            self._one_end()
        return data

    async def send(self, data: bytes) -> None:
        for line in data.splitlines():
            self._file.line("out", line)
        await self._channel.send(data)

    async def end_input(self) -> None:
        self._file.note("end of input")
        await self._channel.end_input()

    async def wait(self, timeout: float) -> int | None:
        return await self._channel.wait(timeout)

    async def stop(self, grace: float | None = None) -> int | None:
        self._file.note("stop", grace=grace)
        code = await self._channel.stop(grace)
        self._file.note("stopped", code=code, stderr=self._channel.stderr_tail)
        self._one_end()
        return code

    def kill(self) -> None:
        self._file.note("kill")
        self._channel.kill()

    def _one_end(self) -> None:
        # What a stopped agent wrote before may be read after it.
        self._ends += 1
        if self._ends > 1:
            self._file.close()

    @property
    def pid(self) -> int | None:
        return self._channel.pid

    @property
    def stderr_tail(self) -> str:
        return self._channel.stderr_tail
