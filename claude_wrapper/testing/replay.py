"""Plays a recorded run to a program in place of an agent, and sees to it that the program does its part."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, final

import anyio

from claude_wrapper.conversation.channels import Transport
from claude_wrapper.errors import CLIConnectionError
from claude_wrapper.testing.faults import ReplayError
from claude_wrapper.testing.recording_file import read_recording
from claude_wrapper.testing.replay_script import END, WAIT, ReplayScript
from claude_wrapper.wire.codec import decode_object

__all__ = ["ReplayTransport"]

_KILLED = -9


@final
class ReplayTransport(Transport):
    """Answers a program from a recording, as the agent did.

        with ReplayTransport("run.jsonl") as transport:
            program(transport)

    What the agent wrote comes again, in the same order, each frame as soon as the program has done what
    it had done by then. The program has to send the same prompts, give the same answers to questions of
    permission, to hooks and to calls of its tools, and make the same requests; else it gets a ReplayError
    that says what is different, and so does whoever leaves the `with` block or calls `verify`. Not
    compared: ids, options other than hooks and servers, the moment of an interrupt.

    `ignore` names fields, or whole paths such as `message.content[0].text`, that may differ. The program
    has `patience` seconds for each of its steps. `pace` plays the recording in its own time (1), faster
    (0.1), or without any waiting (0).
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        ignore: Collection[str] = (),
        patience: float = 10.0,
        pace: float = 0.0,
    ) -> None:
        self._path = Path(path)
        self._ignore = frozenset([ignore] if isinstance(ignore, str) else ignore)
        self._patience = patience
        self._pace = pace
        self._script: ReplayScript | None = None
        self._changed: anyio.Event | None = None
        self._closed = False
        self._error: ReplayError | None = None
        self.exit_code: int | None = None
        """The agent's exit code, once it has ended."""
        self.stderr_tail = ""
        """What the agent last wrote to stderr."""

    def __enter__(self) -> ReplayTransport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.verify()

    def verify(self) -> None:
        """Raise ReplayError unless the program has done all that was recorded of it, and nothing else."""
        if self._error is not None:
            raise self._error
        if self._script is None:
            raise ReplayError(f"The program did not use the recording {self._path}")
        unsent = self._script.unsent
        if unsent is not None:
            raise ReplayError(f"The program ended without {unsent}")

    async def connect(self) -> None:
        """Begin at the beginning. Raises ScriptError for a file that is no recording."""
        self._script = ReplayScript(read_recording(self._path), self._ignore)
        self._changed = anyio.Event()
        self._closed, self._error = False, None
        self.exit_code, self.stderr_tail = None, ""

    async def write(self, data: str) -> None:
        """Compare what the program sends with the recording."""
        with self._program_step() as script:
            for line in data.encode().split(b"\n"):
                if line.strip():
                    script.take(decode_object(line))

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Give the frames of the agent."""
        return self

    def __aiter__(self) -> ReplayTransport:
        return self

    async def __anext__(self) -> dict[str, Any]:
        script = self._connected
        before = script.at
        while (frame := self._next(script)) is WAIT:
            await self._something_happens(script)
        await anyio.sleep(max(script.at - before, 0.0) * self._pace)
        if frame is END:
            raise StopAsyncIteration
        return frame  # type: ignore[no-any-return]  # END and WAIT are of any type

    async def end_input(self) -> None:
        """Take in that the program sends nothing more."""
        with self._program_step() as script:
            script.input_ended()

    async def close(self) -> None:
        """End the run."""
        self._closed = True
        self._wake()

    def is_ready(self) -> bool:
        """Whether `write` may be called."""
        return self._script is not None and not self._closed

    def kill(self) -> None:
        """End the run as an agent ends that is killed."""
        self.exit_code = _KILLED
        self._wake()

    # -- parts

    @property
    def _connected(self) -> ReplayScript:
        if self._script is None:
            raise CLIConnectionError("The replay is not connected")
        return self._script

    @contextmanager
    def _program_step(self) -> Iterator[ReplayScript]:
        """The program does something. The first thing that is wrong is what everybody is told."""
        try:
            if self._error is not None:
                raise self._error
            yield self._connected
        except ReplayError as error:
            self._error = error
            raise
        finally:
            self._wake()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()

    def _next(self, script: ReplayScript) -> Any:
        if self._error is not None:
            raise self._error
        if self._closed or self.exit_code == _KILLED:
            return END
        frame = script.next()
        if frame is END and script.end is not None:
            self.exit_code, self.stderr_tail = script.end.exit_code, script.end.stderr
            if script.end.error:
                raise CLIConnectionError(script.end.error)
        return frame

    async def _something_happens(self, script: ReplayScript) -> None:
        changed = self._changed = anyio.Event()
        with anyio.move_on_after(self._patience):
            await changed.wait()
        if not changed.is_set():
            self._error = ReplayError(
                f"Nothing came within {self._patience:g} seconds; awaited is {script.awaited}"
            )
