"""A tool call and what became of it, as the loop, the dispatch and the frames hand it on."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType, field

from claude_wrapper.wire.messages import ToolResultMeta

__all__ = [
    "DENIED",
    "HANDED_IN",
    "NEVER_TRIED",
    "UNFIT",
    "CallResult",
    "ToolCall",
    "current_call",
    "cut_off",
    "nobody_there",
    "rejected_by_user",
    "reminder",
    "tool_error",
]

NEVER_TRIED, UNFIT, HANDED_IN, DENIED = range(4)
"""After how many further events of a reply the field's agents show a result that needed no work."""

_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool call was stopped before it could finish, "
    "so nothing may be concluded from it: what it should have changed may or may not have been changed. "
    "Wait for the user to say how to go on."
)


current_call: ContextVar[str] = ContextVar("current_call", default="")
"""The id of the call that runs in this task."""
_NOBODY = (
    "The program that has to decide on this call is gone, so the call was not carried out. "
    "Stop here and wait for the user."
)


class ToolCall(msgspec.Struct, frozen=True):
    """What the model asked for. `input` is as the conversation shows it."""

    id: str
    name: str
    input: dict[str, Any]
    unparsed: str | None = None
    """The arguments, when they were no JSON object."""


class CallResult(msgspec.Struct):
    """How a call ended: what the model reads, what the host reads, and what it means for the turn."""

    content: str | list[dict[str, Any]]
    structured: Any = UNSET
    is_error: bool | None = None
    decision: dict[str, Any] | UnsetType = UNSET
    not_run: str | UnsetType = UNSET
    """Why the tool did not run, where it was a matter of permission."""
    contexts: list[str] = field(default_factory=list)
    """What hooks want the model to know beside the result."""
    remark: str | None = None
    """One of them that the host is shown, too."""
    hook_stopped: bool = False
    deferred: bool = False
    """A hook put the call off: there is no result, and the run ends."""
    interrupts: bool = False
    """The host refused the call and wants the turn to end."""
    final: Any = UNSET
    """The value that ends the run, from the tool that takes it."""
    after_events: int | None = None
    """The host may know before the reply is complete: so many events of its stream later."""
    ahead: Callable[[], None] | None = None
    """What is to be told before the result, one event earlier."""
    afterwards: Callable[[], None] | None = None
    """What is to be told behind the result."""

    def block(self, call_id: str) -> dict[str, Any]:
        """The result as a content block."""
        block: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": self.content}
        if self.is_error is not None:
            block["is_error"] = self.is_error
        return block

    def meta(self, call_id: str) -> list[ToolResultMeta] | UnsetType:
        """What the host is told about the decision; nothing for calls that were never decided on."""
        if self.decision is UNSET and self.not_run is UNSET:
            return UNSET
        return [
            ToolResultMeta(id=call_id, permission_decision=self.decision, non_execution_kind=self.not_run)
        ]


def tool_error(text: str, structured: Any = None, *, after_events: int | None = None) -> CallResult:
    """A call that was found wrong before it ran."""
    return CallResult(
        f"<tool_use_error>{text}</tool_use_error>",
        structured=f"Error: {text}" if structured is None else structured,
        is_error=True,
        after_events=after_events,
    )


def cut_off() -> CallResult:
    """A call that was stopped because the user wants something else now."""
    text = "<error>The call was cut off by a newer prompt</error>"
    return CallResult(text, structured=f"Error: {text}", is_error=True)


def given_up() -> CallResult:
    """A call that a newer prompt has overtaken while somebody was asked about it."""
    text = "The question whether the call may run was taken back for a newer prompt"
    return CallResult(
        text,
        structured=f"Error: {text}",
        is_error=True,
        not_run="permission-rule",
        decision={"decision": "reject", "source": "user_abort"},
    )


def nobody_there() -> CallResult:
    """A call that nobody is left to decide on."""
    return CallResult(_NOBODY, structured=_NOBODY, is_error=True, not_run="cancelled")


def rejected_by_user() -> CallResult:
    """A call that was stopped, or never begun, because the turn was interrupted."""
    return CallResult(_REJECTED, structured="User rejected tool use", is_error=True, not_run="user-rejected")


def reminder(text: str) -> str:
    """A text of the harness for the model, told apart from what the user and the tools say."""
    return f"<system-reminder>\n{text}\n</system-reminder>"
