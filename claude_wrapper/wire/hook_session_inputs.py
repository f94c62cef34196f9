"""Hook events about the session, its files and its tasks."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from .hook_base import HookInputPart
from .records import Flag, Number, Object, OptionalText, Text

__all__ = [
    "ConfigChangeInput",
    "CwdChangedInput",
    "DirectoryAddedInput",
    "ElicitationInput",
    "ElicitationResultInput",
    "FileChangedInput",
    "InstructionsLoadedInput",
    "NotificationInput",
    "PostCompactInput",
    "PostModelSwitchInput",
    "PreCompactInput",
    "PreModelSwitchInput",
    "SessionEndInput",
    "SessionStartInput",
    "SetupInput",
    "TaskCompletedInput",
    "TaskCreatedInput",
    "TeammateIdleInput",
    "WorktreeCreateInput",
    "WorktreeRemoveInput",
]


class SessionStartInput(HookInputPart, tag="SessionStart"):
    """A session begins; `source` is startup, resume, clear, compact or fork."""

    source: str
    model: Text = UNSET
    session_title: Text = UNSET


class SessionEndInput(HookInputPart, tag="SessionEnd"):
    """The session ends; `reason` is clear, resume, logout, prompt_input_exit or other."""

    reason: str


class SetupInput(HookInputPart, tag="Setup"):
    """The agent was started to set up or maintain a project; `trigger` is init or maintenance."""

    trigger: str


class PreCompactInput(HookInputPart, tag="PreCompact"):
    """The conversation is about to be summarized; `trigger` is manual or auto."""

    trigger: str
    custom_instructions: str | None


class PostCompactInput(HookInputPart, tag="PostCompact"):
    """The conversation was summarized."""

    trigger: str
    compact_summary: str


class PreModelSwitchInput(HookInputPart, tag="PreModelSwitch"):
    """Another model was asked for; a switch may mean that the prompt cache is written anew."""

    from_model: str
    to_model: str
    requested_model: str | None
    source: Text = UNSET
    context_tokens: int | UnsetType = UNSET
    prompt_cache_warm: Flag = UNSET
    cache_ttl: OptionalText = UNSET
    estimated_cache_write_usd: Number | None = UNSET
    pricing: OptionalText = UNSET


class PostModelSwitchInput(PreModelSwitchInput, tag="PostModelSwitch"):
    """Another model is in use."""


class NotificationInput(HookInputPart, tag="Notification"):
    """The user's attention is wanted."""

    message: str
    notification_type: str
    title: Text = UNSET


class ElicitationInput(HookInputPart, tag="Elicitation"):
    """An MCP server asks the user something."""

    mcp_server_name: str
    message: str
    mode: Text = UNSET
    url: OptionalText = UNSET
    elicitation_id: OptionalText = UNSET
    requested_schema: Object | UnsetType | None = UNSET


class ElicitationResultInput(HookInputPart, tag="ElicitationResult"):
    """The user answered an MCP server; `action` is accept, decline or cancel."""

    mcp_server_name: str
    action: str
    mode: Text = UNSET
    elicitation_id: OptionalText = UNSET
    content: Object | UnsetType | None = UNSET


class ConfigChangeInput(HookInputPart, tag="ConfigChange"):
    """A settings file changed."""

    source: str
    file_path: Text = UNSET


class InstructionsLoadedInput(HookInputPart, tag="InstructionsLoaded"):
    """A file with instructions entered the conversation; `load_reason` says why now."""

    file_path: str
    memory_type: str
    load_reason: str
    globs: list[str] | UnsetType = UNSET
    trigger_file_path: Text = UNSET
    parent_file_path: Text = UNSET


class CwdChangedInput(HookInputPart, tag="CwdChanged"):
    """The working folder changed."""

    old_cwd: str
    new_cwd: str


class FileChangedInput(HookInputPart, tag="FileChanged"):
    """A watched file changed; `event` is change, add or unlink."""

    file_path: str
    event: str


class DirectoryAddedInput(HookInputPart, tag="DirectoryAdded"):
    """A further working folder was added."""

    directory: str
    source: str


class WorktreeCreateInput(HookInputPart, tag="WorktreeCreate"):
    """A worktree is wanted."""

    name: str


class WorktreeRemoveInput(HookInputPart, tag="WorktreeRemove"):
    """A worktree is no longer needed."""

    worktree_path: str


class TaskCreatedInput(HookInputPart, tag="TaskCreated"):
    """A task is about to enter the list."""

    task_id: str
    task_subject: str
    task_description: Text = UNSET
    teammate_name: Text = UNSET
    team_name: Text = UNSET


class TaskCompletedInput(TaskCreatedInput, tag="TaskCompleted"):
    """A task is about to be called done."""


class TeammateIdleInput(HookInputPart, tag="TeammateIdle"):
    """A member of a team of agents is about to go idle."""

    teammate_name: str
    team_name: Text = UNSET
