"""What the Bash tool needs of whoever looks after commands that outlive the call they began with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .shell import Shell

__all__ = ["Job", "Jobs"]


class Job(Protocol):
    """One command."""

    @property
    def id(self) -> str: ...

    @property
    def output_file(self) -> str:
        """Where its output is, once it is in the background."""
        ...

    @property
    def moved(self) -> bool:
        """Whether the host has sent it to the background."""
        ...

    def move(self) -> bool:
        """Send it to the background; whether that could be done."""
        ...

    def done(self, *, failed: bool) -> None:
        """The call has seen it through."""
        ...

    def cut_off(self) -> None:
        """The call was stopped, and the command with it."""
        ...


class Jobs(Protocol):
    """All commands of a session, or of a subagent."""

    possible: bool
    """Whether any may run in the background."""

    outlive: bool
    """Whether those in the background outlive whoever began them."""

    def watch(self, shell: Shell, command: str, description: str) -> Job:
        """A command has begun, and a call waits for it."""
        ...

    def beside(self, shell: Shell, command: str, description: str) -> Job:
        """A command has begun that nobody is to wait for; raises OSError."""
        ...

    async def stop(self, task_id: str) -> dict[str, str] | None:
        """The model wants the end of a task; what it was, or None if there is no such task."""
        ...

    def knows(self, task_id: str) -> bool:
        """Whether such a task is at work."""
        ...
