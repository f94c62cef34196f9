"""Frames beside the conversation: system heads, progress, lifecycles, the mirrored transcript."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, field

from .records import Flag, Frame, Object, OptionalText, Text

__all__ = [
    "ActiveGoalFrame",
    "AuthStatusFrame",
    "AutocompactStateFrame",
    "CommandLifecycleFrame",
    "PromptSuggestionFrame",
    "SystemHead",
    "ToolProgressFrame",
    "ToolUseSummaryFrame",
    "TranscriptMirrorFrame",
    "UpdateEnvironmentVariablesFrame",
]


class SystemHead(Frame, tag="system"):
    """What every system frame has. Stands for it among the other types; its line has the rest."""

    subtype: str
    uuid: Text = UNSET
    session_id: Text = UNSET


class PromptSuggestionFrame(Frame, tag="prompt_suggestion"):
    """Agent to host: what the user might want to say next."""

    suggestion: str
    uuid: Text = UNSET
    session_id: Text = UNSET


class ToolProgressFrame(Frame, tag="tool_progress"):
    """Agent to host: a tool is still running."""

    tool_use_id: str
    tool_name: str
    elapsed_time_seconds: int | float
    parent_tool_use_id: OptionalText = UNSET
    task_id: Text = UNSET
    heartbeat: Flag = UNSET
    uuid: Text = UNSET
    session_id: Text = UNSET


class ToolUseSummaryFrame(Frame, tag="tool_use_summary"):
    """Agent to host: a run of tool calls in a few words."""

    summary: str
    preceding_tool_use_ids: list[str]
    uuid: Text = UNSET
    session_id: Text = UNSET


class AuthStatusFrame(Frame, tag="auth_status"):
    """Agent to host: a login goes on."""

    is_authenticating: bool = field(name="isAuthenticating")
    output: list[str]
    error: Text = UNSET
    uuid: Text = UNSET
    session_id: Text = UNSET


class CommandLifecycleFrame(Frame, tag="command_lifecycle"):
    """Agent to host: a prompt with a uuid is queued, started, completed or cancelled."""

    command_uuid: str
    state: str
    uuid: Text = UNSET
    session_id: Text = UNSET


class ActiveGoalFrame(Frame, tag="active_goal"):
    """Agent to host: the goal that the session works for, in hosted mode."""

    value: Any
    uuid: Text = UNSET
    session_id: Text = UNSET


class AutocompactStateFrame(Frame, tag="autocompact_state"):
    """Agent to host: how near automatic compaction is, in hosted mode."""

    value: Any
    uuid: Text = UNSET
    session_id: Text = UNSET


class TranscriptMirrorFrame(Frame, tag="transcript_mirror"):
    """Agent to host: entries that were just written to a transcript file. Never shown to users."""

    file_path: str = field(name="filePath")
    entries: list[Object]


class UpdateEnvironmentVariablesFrame(Frame, tag="update_environment_variables"):
    """Host to agent: other values for the agent's environment."""

    variables: dict[str, str]
