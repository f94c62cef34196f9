"""What a running agent's pipes look like to the one who waits for them, whatever the system."""

from __future__ import annotations

from typing import Protocol

__all__ = ["CHUNK_BYTES", "AgentPipes", "InputPipe"]

CHUNK_BYTES = 256 * 1024
"""How much is read at once."""


class AgentPipes(Protocol):
    """The ends of stdout and stderr that are ours, and the end of the process."""

    @property
    def waitable(self) -> int:
        """A descriptor that can be read when something has happened since the last `take_events`."""

    @property
    def has_exited(self) -> bool:
        """Whether the process has ended. What it wrote before can still be read."""

    def take_events(self) -> None:
        """Take note of what has happened. Never waits."""

    def watch_output(self, wanted: bool) -> None:
        """Whether stdout counts among the things that happen."""

    def read_output(self) -> bytes | None:
        """Return the next bytes of stdout, b"" at its end, None when there are none yet."""

    def read_errors(self) -> bytes | None:
        """Return the next bytes of stderr, likewise."""

    def close(self) -> None:
        """Close everything. Nobody may be waiting."""


class InputPipe(Protocol):
    """The end of stdin that is ours; it has one writer at a time."""

    async def send(self, data: bytes) -> None:
        """Write all of `data`; raises CLIConnectionError when it cannot be."""

    async def close(self) -> None:
        """Close it once what is being written has been written."""

    def close_now(self) -> None:
        """Close it; what is being written fails."""
