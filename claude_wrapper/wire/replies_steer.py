"""The agent's answers to requests that set up and steer the session."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType, field

from .records import Flag, OptionalText, Part, Text

__all__ = [
    "AccountInfo",
    "AgentInfo",
    "BackgroundTasksReply",
    "CancelAsyncMessageReply",
    "CommandInfo",
    "InitializeReply",
    "InterruptReply",
    "ModelInfo",
    "OutputStylesReply",
    "PluginsReply",
    "RepoRootReply",
    "RewindFilesReply",
    "SetModeReply",
    "SetModelReply",
    "SkillsReply",
]


class CommandInfo(Part, rename="camel"):
    """A slash command."""

    name: str
    description: str
    argument_hint: str = ""
    aliases: list[str] | UnsetType = UNSET
    builtin: Flag = UNSET


class AgentInfo(Part):
    """An agent that the model may start."""

    name: str
    description: str
    model: Text = UNSET


class ModelInfo(Part, rename="camel"):
    """A model to choose."""

    value: str
    display_name: str
    description: str
    resolved_model: Text = UNSET
    supports_effort: Flag = UNSET
    supported_effort_levels: list[str] | UnsetType = UNSET
    supports_adaptive_thinking: Flag = UNSET
    supports_fast_mode: Flag = UNSET
    supports_auto_mode: Flag = UNSET
    supports_thinking_off: Flag = UNSET


class AccountInfo(Part, rename="camel"):
    """Who pays."""

    email: Text = UNSET
    organization: Text = UNSET
    subscription_type: Text = UNSET
    token_source: Text = UNSET
    api_key_source: Text = UNSET
    api_provider: Text = UNSET


class InitializeReply(Part):
    """What the agent is and has. Lists are open, so that an unusual entry does not cost the session."""

    commands: list[Any] | UnsetType = UNSET
    agents: list[Any] | UnsetType = UNSET
    models: list[Any] | UnsetType = UNSET
    account: Any = UNSET
    output_style: Text = UNSET
    available_output_styles: list[str] | UnsetType = UNSET
    user_output_styles_dir: OptionalText = UNSET
    pid: int | UnsetType = UNSET
    claude_code_version: Text = UNSET
    current_permission_mode: Text = UNSET
    session_state: Text = UNSET
    hooks_applied: Flag = UNSET
    hook_on_failure_supported: Flag = UNSET
    plugins_applied: Any = UNSET
    mcp_servers_applied: Any = UNSET
    sdk_mcp_manifests_parked: dict[str, str] | UnsetType = UNSET
    fast_mode_state: Text = UNSET
    fast_mode_disabled_reason: Text = UNSET
    capabilities: list[str] | UnsetType = UNSET
    analytics_disabled: Flag = UNSET
    sandbox_enabled: Flag = UNSET


class InterruptReply(Part):
    """Which prompts still wait, and which were cancelled."""

    still_queued: list[str] = field(default_factory=list)
    cancelled: list[str] | UnsetType = UNSET


class SetModeReply(Part):
    """The permission mode that is in force now."""

    mode: str


class SetModelReply(Part):
    """The model that is in use now."""

    model: str


class RewindFilesReply(Part, rename="camel"):
    """What rewinding did, or would do."""

    can_rewind: bool
    error: Text = UNSET
    files_changed: list[str] | UnsetType = UNSET
    insertions: int | UnsetType = UNSET
    deletions: int | UnsetType = UNSET
    skipped_links: Any = UNSET


class BackgroundTasksReply(Part):
    """Whether the one call that was named went to the background."""

    backgrounded: Flag = UNSET


class CancelAsyncMessageReply(Part):
    """Whether the prompt could be taken back."""

    cancelled: bool
    message_uuid: Text = UNSET


class PluginsReply(Part):
    """What there is after the plugins were read again."""

    commands: list[Any]
    agents: list[Any]
    plugins: list[Any]
    mcp_servers: list[Any] = field(name="mcpServers")
    error_count: int
    held: Flag = UNSET
    cache_impact: Any = UNSET


class SkillsReply(Part):
    """What there is after the skills were read again."""

    skills: list[Any]


class OutputStylesReply(Part):
    """What there is after the output styles were read again."""

    available_output_styles: list[str]


class RepoRootReply(Part):
    """The folder that was added."""

    directory: str
