"""Records a run of a program with an agent, so that the program can be tested without it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, final

from claude_wrapper.conversation.channels import Transport
from claude_wrapper.conversation.masking import Mask
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.testing.agent_transport import AgentTransport
from claude_wrapper.testing.recording_file import Kind, RecordingWriter
from claude_wrapper.wire.codec import decode_object

__all__ = ["RecordingTransport"]


@final
class RecordingTransport(Transport):
    """Passes everything on between a program and an agent, and writes it down.

        transport = RecordingTransport("run.jsonl", options)
        async for message in query(prompt="Go", options=options, transport=transport):
            ...

    `inner` says what it stands before: options, of which it starts an agent as the library would; or
    another transport. The file holds one run: a JSON line for each frame of either side, with its time,
    and for the end. Keys, tokens and passwords are masked, as are the values of variables, of this
    process and of the options, whose names say that they are secret; what was said is in it all the
    same, and so only its owner may read it.
    """

    def __init__(
        self, path: str | os.PathLike[str], inner: ClaudeAgentOptions | Transport | None = None
    ) -> None:
        self._path = Path(path)
        self._options = inner if isinstance(inner, ClaudeAgentOptions) else ClaudeAgentOptions()
        self._inner: Transport = inner if isinstance(inner, Transport) else AgentTransport(self._options)
        self._file: RecordingWriter | None = None

    async def connect(self) -> None:
        """Start the agent, or connect the inner transport, and begin the file."""
        file = RecordingWriter(self._path, Mask((os.environ, self._options.env)))
        try:
            await self._inner.connect()
        except BaseException:
            file.close()
            raise
        self._file = file

    async def write(self, data: str) -> None:
        """Write down and send the frames of the program."""
        for line in data.encode().split(b"\n"):
            if line.strip():
                self._note("sent", frame=decode_object(line))
        await self._inner.write(data)

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Give the frames of the agent, and write them down."""
        return _Frames(aiter(self._inner.read_messages()), self._received, self._ended)

    async def end_input(self) -> None:
        """Write down that nothing more comes, and pass it on."""
        self._note("input_end")
        await self._inner.end_input()

    async def close(self) -> None:
        """Close the file, and the inner transport, which ends an agent."""
        if self._file is not None:
            # Before the agent's end, which is the program's doing here and would be its own otherwise.
            self._note("closed")
            self._file.close()
        await self._inner.close()

    def is_ready(self) -> bool:
        """Whether `write` may be called."""
        return self._inner.is_ready()

    def kill(self) -> None:
        """End the agent at once."""
        self._inner.kill()  # type: ignore[attr-defined]  # not every transport has a process

    @property
    def pid(self) -> int | None:
        """The agent's process id."""
        return getattr(self._inner, "pid", None)

    @property
    def exit_code(self) -> int | None:
        """The agent's exit code, once it has ended."""
        return getattr(self._inner, "exit_code", None)

    @property
    def stderr_tail(self) -> str:
        """What the agent last wrote to stderr."""
        return getattr(self._inner, "stderr_tail", "")

    def _received(self, frame: dict[str, Any]) -> None:
        self._note("received", frame=frame)

    def _ended(self, error: Exception | None) -> None:
        """Write down how the agent's output ended; nothing counts that comes later."""
        text = "" if error is None else str(error) or type(error).__name__
        self._note("end", exit_code=self.exit_code, stderr=self.stderr_tail, error=text)
        if self._file is not None:
            self._file.close()

    def _note(self, kind: Kind, **facts: Any) -> None:
        if self._file is not None:
            self._file.note(kind, **facts)


class _Frames:
    """The frames of the inner transport; they and their end are told as they pass."""

    def __init__(
        self,
        frames: AsyncIterator[dict[str, Any]],
        received: Callable[[dict[str, Any]], None],
        ended: Callable[[Exception | None], None],
    ) -> None:
        self._frames = frames
        self._received = received
        self._ended = ended

    def __aiter__(self) -> _Frames:
        return self

    async def __anext__(self) -> dict[str, Any]:
        try:
            frame = await anext(self._frames)
        except StopAsyncIteration:
            self._ended(None)
            raise
        except Exception as error:
            self._ended(error)
            raise
        self._received(frame)
        return frame
