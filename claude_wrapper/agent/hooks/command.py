"""Runs one command hook: the event on its input, its output as it comes, its end, or its time limit."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import anyio
import msgspec

from claude_wrapper.agent.processes import leftovers
from claude_wrapper.agent.processes.child import Child, Pump, start

from .hook import CommandHook
from .output import says_async

__all__ = ["CommandEnd", "CommandRun", "Surroundings"]

_MOST_BYTES = 8 * 1024 * 1024
"""Of each stream; what comes later is read and thrown away."""
_PIPE_BYTES = 60 * 1024
_LAST_OUTPUT = 0.1
"""Seconds to wait behind the end for output of processes that the hook did not wait for."""
_REPORT_SECONDS = 1.0
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127


class Surroundings(msgspec.Struct, frozen=True):
    """What a hook finds around it."""

    cwd: Path
    project: Path
    environment: dict[str, str]


class CommandEnd(msgspec.Struct, frozen=True):
    """How a hook ended and what it has printed."""

    stdout: str
    stderr: str
    output: str
    """Both, as they came."""
    code: int = 1
    how: Literal["ended", "broken", "timeout"] = "ended"
    """`broken`: it could not be started, or was killed."""


class CommandRun:
    """A hook on its way. `settled` is set once nobody has to wait for it any longer.

    `on_output` is told, every second at most, what has been printed so far.
    """

    def __init__(
        self,
        hook: CommandHook,
        event: bytes,
        surroundings: Surroundings,
        on_output: Callable[[CommandEnd], None],
        *,
        detached: bool = False,
    ) -> None:
        self._hook = hook
        self._event = event
        self._around = surroundings
        self._on_output = on_output
        self._parts: list[bytes] = []
        self._out, self._err = bytearray(), bytearray()
        self._first_line_seen = False
        self.settled = anyio.Event()
        self.scope = anyio.CancelScope()
        self.end: CommandEnd | None = None
        self.detached = detached
        """The hook goes on by itself."""

    async def run(self) -> None:
        """See it through; when this is cancelled through `scope`, the hook is ended."""
        if self.detached:
            self.settled.set()
        try:
            with self.scope:
                self.end = await self._to_the_end()
        finally:
            self.settled.set()

    def so_far(self, code: int = 1, how: Literal["ended", "broken", "timeout"] = "ended") -> CommandEnd:
        """What it has printed until now."""
        both = b"".join(self._parts)
        return CommandEnd(_text(self._out), _text(self._err), _text(both), code, how)

    async def _to_the_end(self) -> CommandEnd:
        try:
            with _input(self._event) as stdin:
                child = start(
                    self._argv(),
                    cwd=self._around.cwd if self._around.cwd.is_dir() else self._around.project,
                    environment=self._around.environment,
                    separate_stderr=True,
                    stdin=stdin,
                )
        except (OSError, ValueError) as error:
            return CommandEnd("", text := f"The hook could not be started: {error}", text, 1, "broken")
        code: int | None = None
        pumps = [Pump(child.stdout, self._take_stdout)]
        if child.stderr is not None:
            pumps.append(Pump(child.stderr, self._take_stderr))
        try:
            with anyio.move_on_after(self._hook.seconds):
                code = await self._ended(child)
                with anyio.move_on_after(_LAST_OUTPUT):
                    for pump in pumps:
                        await pump.ended.wait()
        finally:
            if code is None:
                await child.stop()
            for pump in pumps:
                pump.detach()
            _leave(child, pumps)
        if code is None:
            return self.so_far(1, "timeout")
        return self.so_far(code if code >= 0 else 1, "ended" if _means_something(code) else "broken")

    async def _ended(self, child: Child) -> int:
        """Wait for the end, and meanwhile report what is printed."""

        async def report() -> None:
            reported = 0
            while True:
                await anyio.sleep(_REPORT_SECONDS)
                if len(self._parts) != reported:
                    reported = len(self._parts)
                    self._on_output(self.so_far())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(report)
            code = await child.wait()
            tasks.cancel_scope.cancel()
        return code

    def _argv(self) -> list[str]:
        folder = str(self._around.project)
        command = self._hook.command.replace("${CLAUDE_PROJECT_DIR}", folder)
        if self._hook.args is None:
            # The variable is left to the shell, which knows how to quote it.
            return ["/bin/sh", "-c", self._hook.command]
        return [command, *(arg.replace("${CLAUDE_PROJECT_DIR}", folder) for arg in self._hook.args)]

    def _take_stdout(self, data: bytes) -> None:
        self._take(self._out, data)
        if not self._first_line_seen and (b"\n" in data or len(self._out) > _PIPE_BYTES):
            self._first_line_seen = True
            if says_async(bytes(self._out).partition(b"\n")[0]):
                self.detached = True
                self.settled.set()

    def _take_stderr(self, data: bytes) -> None:
        self._take(self._err, data)

    def _take(self, stream: bytearray, data: bytes) -> None:
        data = data[: max(_MOST_BYTES - len(stream), 0)]
        if data:
            stream += data
            self._parts.append(data)


@contextlib.contextmanager
def _input(data: bytes) -> Iterator[int]:
    """A descriptor to read `data` from; nobody has to keep writing it, whether or not it is read."""
    if len(data) > _PIPE_BYTES:
        import tempfile  # noqa: PLC0415  # events are rarely that long

        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            yield file.fileno()
        return
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, data)
        os.close(write_end)
        yield read_end
    finally:
        os.close(read_end)


def _means_something(code: int) -> bool:
    """Whether the hook itself chose this exit code."""
    return code >= 0 and code not in (_NOT_EXECUTABLE, _NOT_FOUND)


def _leave(child: Child, pumps: list[Pump]) -> None:
    """Let go of the output; what still writes to it goes on undisturbed."""
    for pump, pipe in zip(pumps, (child.stdout, child.stderr), strict=False):
        if pipe is None:
            continue
        if pump.ended.is_set():
            with contextlib.suppress(OSError):
                os.close(pipe)
        else:
            leftovers.adopt(pipe)


def _text(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")
