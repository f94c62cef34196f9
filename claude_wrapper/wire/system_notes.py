"""System frames that tell of single events: hooks, notes for the user, denials, installations."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from .records import Flag, Number, Object, OptionalText, SystemPart, Text

__all__ = [
    "ControlRequestProgressFrame",
    "ElicitationCompleteFrame",
    "HookProgressFrame",
    "HookResponseFrame",
    "HookStartedFrame",
    "InformationalFrame",
    "LocalCommandOutputFrame",
    "NotificationFrame",
    "PermissionDeniedFrame",
    "PluginInstallFrame",
]


class HookStartedFrame(SystemPart, tag="hook_started"):
    """A command hook began. Hooks of the host are asked by a control request and have no frames."""

    hook_id: str
    hook_name: str
    hook_event: str


class HookProgressFrame(SystemPart, tag="hook_progress"):
    """What a command hook has written so far."""

    hook_id: str
    hook_name: str
    hook_event: str
    stdout: str
    stderr: str
    output: str


class HookResponseFrame(SystemPart, tag="hook_response"):
    """A command hook ended; `outcome` is success, error or cancelled."""

    hook_id: str
    hook_name: str
    hook_event: str
    output: str
    stdout: str
    stderr: str
    outcome: str
    exit_code: int | UnsetType | None = UNSET


class InformationalFrame(SystemPart, tag="informational"):
    """A text for the user; `level` is info, notice, suggestion or warning."""

    content: str
    level: str
    tool_use_id: Text = UNSET
    prevent_continuation: Flag = UNSET
    tag: Text = UNSET
    prompt_submit_outcome: Object | UnsetType = UNSET
    hook_no_verdict: Object | UnsetType = UNSET
    model_restriction: Object | UnsetType = UNSET


class NotificationFrame(SystemPart, tag="notification"):
    """A short-lived note for the user; a later one with the same `key` replaces it."""

    key: str
    text: str
    priority: str
    color: Text = UNSET
    timeout_ms: Number = UNSET


class PermissionDeniedFrame(SystemPart, tag="permission_denied"):
    """A tool call was denied without asking anybody."""

    tool_name: str
    tool_use_id: str
    message: str
    agent_id: Text = UNSET
    decision_reason_type: Text = UNSET
    decision_reason: OptionalText = UNSET


class LocalCommandOutputFrame(SystemPart, tag="local_command_output"):
    """What a slash command wrote."""

    content: str


class PluginInstallFrame(SystemPart, tag="plugin_install"):
    """The installation of plugins goes on; `status` is started, installed, failed or completed."""

    status: str
    name: Text = UNSET
    error: Text = UNSET


class ElicitationCompleteFrame(SystemPart, tag="elicitation_complete"):
    """What an MCP server had asked the user to do elsewhere is done."""

    mcp_server_name: str
    elicitation_id: str


class ControlRequestProgressFrame(SystemPart, tag="control_request_progress"):
    """A control request of the host takes longer; `status` is started or api_retry."""

    request_id: str
    status: str
    attempt: int | UnsetType = UNSET
    max_retries: int | UnsetType = UNSET
    retry_delay_ms: Number = UNSET
    error_status: int | UnsetType | None = UNSET
    error: Text = UNSET
