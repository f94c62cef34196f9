"""Control requests by which the host sets up and steers the session."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from .config import AgentDefinitionBody, PluginConfigBody, SdkServerConfigBody, SdkServerManifestBody
from .hooks import HookMatcherBody
from .records import Flag, Object, OptionalText, Part, Text

__all__ = [
    "ApplyFlagSettings",
    "BackgroundTasks",
    "CancelAsyncMessage",
    "EndSession",
    "Initialize",
    "Interrupt",
    "RegisterRepoRoot",
    "ReloadOutputStyles",
    "ReloadPlugins",
    "ReloadSkills",
    "RenameSession",
    "Request",
    "RewindFiles",
    "SeedReadState",
    "SetColor",
    "SetHasSubscribers",
    "SetMaxThinkingTokens",
    "SetModel",
    "SetPermissionMode",
    "StopTask",
    "UpdateSettings",
]


class Request(Part, tag_field="subtype"):
    """The body of a control request."""


class Initialize(Request, tag="initialize", rename="camel"):
    """Says what the host has and wants. Comes first, and may come again with other hooks."""

    hooks: dict[str, list[HookMatcherBody]] | UnsetType | None = UNSET
    agents: dict[str, AgentDefinitionBody] | UnsetType | None = UNSET
    sdk_mcp_servers: list[str] | UnsetType | None = UNSET
    sdk_mcp_server_configs: dict[str, SdkServerConfigBody] | UnsetType | None = UNSET
    sdk_mcp_server_manifests: dict[str, SdkServerManifestBody] | UnsetType | None = UNSET
    sdk_mcp_server_manifests_origin: Text = UNSET
    json_schema: Object | UnsetType | None = UNSET
    system_prompt: list[str] | UnsetType | None = UNSET
    append_system_prompt: OptionalText = UNSET
    system_prompt_snapshot: bool | UnsetType | None = UNSET
    exclude_dynamic_sections: bool | UnsetType | None = UNSET
    plan_mode_instructions: OptionalText = UNSET
    tool_aliases: dict[str, str] | UnsetType | None = UNSET
    title: OptionalText = UNSET
    skills: list[str] | UnsetType | None = UNSET
    """The skills to offer; absent: all."""
    prompt_suggestions: bool | UnsetType | None = UNSET
    agent_progress_summaries: bool | UnsetType | None = UNSET
    forward_subagent_text: bool | UnsetType | None = UNSET
    supported_dialog_kinds: list[str] | UnsetType | None = UNSET
    per_task_stop_affordance: bool | UnsetType | None = UNSET
    plugins: list[PluginConfigBody] | UnsetType | None = UNSET
    mcp_servers: dict[str, Object] | UnsetType | None = UNSET


class Interrupt(Request, tag="interrupt"):
    """Ends the turn that runs, and with `cancel_queued` those that wait."""

    cancel_queued: Flag = UNSET


class SetPermissionMode(Request, tag="set_permission_mode"):
    """Changes the permission mode."""

    mode: str


class SetModel(Request, tag="set_model"):
    """Changes the model; null means the default one."""

    model: OptionalText = UNSET


class SetMaxThinkingTokens(Request, tag="set_max_thinking_tokens"):
    """Changes how much the model may think."""

    max_thinking_tokens: int | UnsetType | None = UNSET
    thinking_display: OptionalText = UNSET


class RenameSession(Request, tag="rename_session"):
    """Gives the session a title."""

    title: str
    source: Text = UNSET
    session_id: Text = UNSET


class SetColor(Request, tag="set_color"):
    """Changes the colour of a user interface; agents without one refuse."""

    color: OptionalText = UNSET


class SetHasSubscribers(Request, tag="set_has_subscribers"):
    """Says whether anybody watches."""

    has_subscribers: bool | None


class StopTask(Request, tag="stop_task"):
    """Ends a task."""

    task_id: str


class BackgroundTasks(Request, tag="background_tasks"):
    """Moves what runs in the foreground to the background: all of it, or one call."""

    tool_use_id: OptionalText = UNSET


class CancelAsyncMessage(Request, tag="cancel_async_message"):
    """Takes back a prompt that waits."""

    message_uuid: str


class RewindFiles(Request, tag="rewind_files"):
    """Puts the files back to where they were at a message."""

    user_message_id: str
    dry_run: Flag = UNSET


class SeedReadState(Request, tag="seed_read_state"):
    """Lets a file count as read; `mtime` in milliseconds."""

    path: str
    mtime: int | float


class ApplyFlagSettings(Request, tag="apply_flag_settings"):
    """Replaces the settings that were given on the command line."""

    settings: Object


class UpdateSettings(Request, tag="update_settings"):
    """Writes settings to a file."""

    source: str
    settings: Object


class RegisterRepoRoot(Request, tag="register_repo_root"):
    """Adds a working folder."""

    directory: str
    reload_claude_md: Flag = UNSET
    reload_plugins: Flag = UNSET
    reload_skills: Flag = UNSET


class ReloadPlugins(Request, tag="reload_plugins"):
    """Reads the plugins again."""

    hold_on_cache_impact: Flag = UNSET
    add_plugins: list[PluginConfigBody] | UnsetType = UNSET
    refuse_if_busy: Flag = UNSET


class ReloadSkills(Request, tag="reload_skills"):
    """Reads the skills again."""


class ReloadOutputStyles(Request, tag="reload_output_styles"):
    """Reads the output styles again."""


class EndSession(Request, tag="end_session"):
    """Ends the process in order."""

    reason: Text = UNSET
