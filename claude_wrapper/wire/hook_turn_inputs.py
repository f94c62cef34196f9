"""Hook events about prompts, turns and subagents."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from .hook_base import HookInputPart
from .records import Part, Text

__all__ = [
    "BackgroundTaskSummaryBody",
    "MessageDisplayInput",
    "SessionCronSummaryBody",
    "StopFailureInput",
    "StopInput",
    "SubagentStartInput",
    "SubagentStopInput",
    "UserPromptExpansionInput",
    "UserPromptSubmitInput",
]


class UserPromptSubmitInput(HookInputPart, tag="UserPromptSubmit"):
    """The user said something."""

    prompt: str
    source: Text = UNSET
    session_title: Text = UNSET


class UserPromptExpansionInput(HookInputPart, tag="UserPromptExpansion"):
    """The user gave a command that stands for a longer prompt."""

    expansion_type: str
    command_name: str
    command_args: str
    prompt: str
    command_source: Text = UNSET


class MessageDisplayInput(HookInputPart, tag="MessageDisplay"):
    """A message is shown, or a piece of it."""

    turn_id: str
    message_id: str
    index: int
    final: bool
    delta: str


class BackgroundTaskSummaryBody(Part):
    """A task that still runs in the background; which further fields there are depends on its type."""

    id: str
    type: str
    status: str
    description: str
    command: Text = UNSET
    agent_type: Text = UNSET
    server: Text = UNSET
    tool: Text = UNSET
    name: Text = UNSET


class SessionCronSummaryBody(Part):
    """A prompt that the session will be given at set times."""

    id: str
    schedule: str
    recurring: bool
    prompt: str


class StopInput(HookInputPart, tag="Stop"):
    """The model is done. `stop_hook_active`: a hook has kept it going already."""

    stop_hook_active: bool
    last_assistant_message: Text = UNSET
    background_tasks: list[BackgroundTaskSummaryBody] | UnsetType = UNSET
    session_crons: list[SessionCronSummaryBody] | UnsetType = UNSET


class StopFailureInput(HookInputPart, tag="StopFailure"):
    """The turn ends on an error of the API."""

    error: str
    error_details: Text = UNSET
    last_assistant_message: Text = UNSET


class SubagentStartInput(HookInputPart, tag="SubagentStart"):
    """A subagent begins."""

    agent_id: str
    agent_type: str


class SubagentStopInput(HookInputPart, tag="SubagentStop"):
    """A subagent is done."""

    agent_id: str
    agent_type: str
    stop_hook_active: bool
    agent_transcript_path: str
    last_assistant_message: Text = UNSET
    background_tasks: list[BackgroundTaskSummaryBody] | UnsetType = UNSET
    session_crons: list[SessionCronSummaryBody] | UnsetType = UNSET
