"""What a tool is, what it is given and how it answers: the agreement between tools and the dispatch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .ledger import ReadLedger
from .task_book import Task, TaskBook

if TYPE_CHECKING:
    from .jobs import Jobs

__all__ = [
    "Answerable",
    "InputRejected",
    "PlanningState",
    "Tool",
    "ToolContext",
    "ToolFailure",
    "ToolOutput",
    "error_note",
]


def error_note(text: str) -> str:
    """The form in which a failure's text travels beside the tool result."""
    return f"Error: {text}"


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A finished call."""

    content: str | list[dict[str, Any]]
    """What the model reads in the tool result."""
    structured: Any
    """What the host reads beside it."""
    is_error: bool | None = None
    """None leaves the key away."""


class ToolFailure(Exception):  # noqa: N818  # it is an outcome that the model acts on, not a fault of the program
    """A call that began to run and failed; the model reads `text` as it is."""

    def __init__(self, text: str, structured: Any = None, *, interrupted: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.interrupted = interrupted
        """Nobody knows whether it has run to its end."""
        self.structured = error_note(text) if structured is None else structured


class InputRejected(Exception):  # noqa: N818  # as above
    """A call that must not run as it was asked; found before the permission question."""

    def __init__(self, text: str, structured: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.structured = error_note(text) if structured is None else structured


class PlanningState(Protocol):
    """Plan mode, as far as tools move in and out of it."""

    file: Path
    """Where the plan is written; it need not be there."""

    @property
    def active(self) -> bool: ...

    def enter(self) -> None: ...

    def leave(self) -> None: ...


async def _nobody_objects(_change: str, _task: Task) -> str | None:
    return None


@dataclass(slots=True)
class ToolContext:
    """The session as a tool sees it."""

    cwd: Path
    """Where relative paths start; a shell command may move it."""
    original_cwd: Path
    """Where the session started, and where a shell that strayed is put back."""
    working_dirs: Callable[[], list[Path]]
    """The folders that the session works in: its own and those added."""
    session_id: str
    environment: dict[str, str]
    """What child processes get; holds no secrets."""
    results_dir: Path
    """Where outputs that are too large for the conversation are kept; made on first use."""
    read_files: ReadLedger = field(default_factory=ReadLedger)
    tasks: TaskBook = field(default_factory=TaskBook)
    """The list of what is to be done."""
    before_change: Callable[[Path], None] = lambda _: None
    """Told of a file that a tool is about to write, while it is still as it was."""
    objection: Callable[[str, Task], Awaitable[str | None]] = _nobody_objects
    """Asked about a task that is to be `created` or `completed`; a text says why not."""
    user_modified: bool = False
    """The host changed this call's input when it allowed it."""
    planning: PlanningState | None = None
    """None where there is no plan mode."""
    jobs: Jobs | None = None
    """Looks after commands that outlive their call; None where nothing does."""


class Tool(Protocol):
    """One tool. Instances hold no state of a call, so calls may overlap."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def input_schema(self) -> dict[str, Any]: ...

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Whether this call changes nothing, so that it may run beside others."""
        ...

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The input as it is shown in the conversation, defaults filled in; raises InputRejected."""
        ...

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The prepared input with every path absolute: what rules are matched on and hosts are asked about."""
        ...

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        """Find what must fail before anybody is asked for permission; raises InputRejected."""
        ...

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Do it; raises ToolFailure."""
        ...


@runtime_checkable
class Answerable(Protocol):
    """A tool whose call whoever allows it completes with an answer of their own."""

    def with_answer(self, tool_input: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """The input to run with, made of the prepared one and what the answer holds."""
        ...
