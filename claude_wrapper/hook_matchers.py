"""How hook callbacks are registered: for which event, for which tools, with which limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from .hook_inputs import HookContext, HookInput
from .hook_outputs import HookJSONOutput

__all__ = ["HOOK_EVENTS", "HookCallback", "HookEvent", "HookMatcher"]

HookEvent = Literal[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "SubagentStart",
    "PermissionRequest",
]
"""The events whose inputs and outputs are typed here."""

HOOK_EVENTS = (
    *get_args(HookEvent),
    *("PostToolBatch", "UserPromptExpansion", "SessionStart", "SessionEnd", "Setup", "StopFailure"),
    *("PostCompact", "PermissionDenied", "PreModelSwitch", "PostModelSwitch", "Elicitation"),
    *("ElicitationResult", "CwdChanged", "FileChanged", "DirectoryAdded", "ConfigChange"),
    *("InstructionsLoaded", "WorktreeCreate", "WorktreeRemove", "MessageDisplay", "TaskCreated"),
    *("TaskCompleted", "TeammateIdle", "PreSkillShellCommand"),
)
"""Every event an agent may know (as of November 2026); a hook for any other would never run."""

HookCallback = Callable[[HookInput, str | None, HookContext], Awaitable[HookJSONOutput]]
"""A hook, given the event's input, the tool call's id if there is one, and the context."""


@dataclass
class HookMatcher:
    """Which calls of an event reach which callbacks."""

    matcher: str | None = None
    """A tool name or a regular expression over tool names, such as `Write|Edit`; None: all."""
    hooks: list[HookCallback] = field(default_factory=list)
    timeout: float | None = None
    """How long a callback may take, in seconds. Then it is cancelled: a PreToolUse hook has refused the
    call, any other has failed. None: the agent's own limit."""
    on_failure: Literal["continue", "block"] | None = None
    """What a callback that fails means for the action; None and `continue`: no opinion."""
