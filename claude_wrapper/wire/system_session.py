"""System frames about the session: its start, its state, its model and what is kept of it."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType, field

from .records import Flag, Number, Object, OptionalText, Part, SystemPart, Text

__all__ = [
    "ApiRetryFrame",
    "CommandsChangedFrame",
    "CompactBoundaryFrame",
    "CompactMetadata",
    "FilesPersistedFrame",
    "InitFrame",
    "InitMcpServer",
    "InitMcpServerError",
    "InitPlugin",
    "InitPluginError",
    "MemoryRecallFrame",
    "MirrorErrorFrame",
    "ModelFallbackFrame",
    "ModelRefusalFallbackFrame",
    "ModelRefusalNoFallbackFrame",
    "PreservedMessages",
    "PreservedSegment",
    "SessionStateChangedFrame",
    "SessionTitleChangedFrame",
    "SessionWritesLostFrame",
    "StatusFrame",
    "ThinkingTokensFrame",
    "WorkerShuttingDownFrame",
]


class InitMcpServer(Part):
    """An MCP server as the agent sees it at the start of a turn."""

    name: str
    status: str
    source: Text = UNSET


class InitPlugin(Part):
    """A plugin that is in force."""

    name: str
    path: str
    source: Text = UNSET
    version: Text = UNSET


class InitPluginError(Part):
    """A plugin, or a part of one, that could not be loaded."""

    plugin: str
    type: str
    message: str
    path: Text = UNSET


class InitMcpServerError(Part):
    """A server's configuration that was skipped."""

    name: str
    type: str
    message: str


class InitFrame(SystemPart, tag="init"):
    """A turn starts; says with what. Only the fields every agent sends are required."""

    cwd: str
    tools: list[str]
    mcp_servers: list[InitMcpServer]
    model: str
    permission_mode: str = field(name="permissionMode")
    slash_commands: list[str]
    api_key_source: str = field(name="apiKeySource")
    claude_code_version: str
    output_style: str
    skills: list[str]
    plugins: list[InitPlugin]
    agents: list[str] | UnsetType = UNSET
    terminal_slash_commands: list[str] | UnsetType = UNSET
    plugin_errors: list[InitPluginError] | UnsetType = UNSET
    mcp_server_errors: list[InitMcpServerError] | UnsetType = UNSET
    capabilities: list[str] | UnsetType = UNSET
    betas: list[str] | UnsetType = UNSET
    effort: Any = UNSET
    original_cwd: Text = UNSET
    additional_directories: list[str] | UnsetType = UNSET
    memory_paths: Object | UnsetType = UNSET
    messaging_socket_path: OptionalText = UNSET
    user_message_uuids: list[str] | UnsetType = UNSET
    fast_mode_state: Text = UNSET
    fast_mode_disabled_reason: Text = UNSET
    sandbox_enabled: Flag = UNSET
    analytics_disabled: Flag = UNSET
    product_feedback_disabled: Flag = UNSET
    served_by_anthropic: Flag = UNSET
    per_turn_effort_active: Flag = UNSET
    ultrathink_available: Flag = UNSET
    ultrathink_typed_raises: Flag = UNSET
    view_mode: Text = UNSET


class SessionStateChangedFrame(SystemPart, tag="session_state_changed"):
    """The session is `idle`, `running`, or waits for an answer of the host (`requires_action`)."""

    state: str
    sdk_host_only: Flag = UNSET
    """True: meant for the host program itself, which does not pass it on."""


class StatusFrame(SystemPart, tag="status"):
    """What the agent is busy with (`requesting`, `compacting`), or a new permission mode."""

    status: str | None
    permission_mode: Text = field(name="permissionMode", default=UNSET)
    compact_result: Text = UNSET
    compact_error: OptionalText = UNSET
    compact_output_chars: int | UnsetType = UNSET
    user_message_uuids: list[str] | UnsetType = UNSET


class ApiRetryFrame(SystemPart, tag="api_retry"):
    """A request to the model failed and is tried again after `retry_delay_ms`."""

    attempt: int
    max_retries: int
    retry_delay_ms: int | float
    error_status: int | None
    error: str
    no_response: Flag = UNSET


class ModelFallbackFrame(SystemPart, tag="model_fallback"):
    """Another model is asked for the rest of the turn; `trigger` says what was wrong with the first."""

    trigger: str
    original_model: str
    fallback_model: str
    content: Text = UNSET


class PreservedSegment(Part):
    """The run of messages that a compaction kept."""

    head_uuid: str
    anchor_uuid: str
    tail_uuid: str


class PreservedMessages(Part):
    """The messages that a compaction kept, one by one."""

    anchor_uuid: str
    uuids: list[str]
    all_uuids: list[str] | UnsetType = UNSET


class CompactMetadata(Part):
    """What a compaction did."""

    trigger: str
    pre_tokens: int
    post_tokens: int | UnsetType = UNSET
    cumulative_dropped_tokens: int | UnsetType = UNSET
    duration_ms: Number = UNSET
    preserved_segment: PreservedSegment | UnsetType = UNSET
    preserved_messages: PreservedMessages | UnsetType = UNSET


class CompactBoundaryFrame(SystemPart, tag="compact_boundary"):
    """What came before was replaced by a summary."""

    compact_metadata: CompactMetadata
    logical_parent_uuid: OptionalText = UNSET


class ThinkingTokensFrame(SystemPart, tag="thinking_tokens"):
    """How much the model has thought so far in this reply."""

    estimated_tokens: int
    estimated_tokens_delta: int
    user_message_uuid: Text = UNSET


class SessionTitleChangedFrame(SystemPart, tag="session_title_changed"):
    """The session has a new title."""

    title: str


class CommandsChangedFrame(SystemPart, tag="commands_changed"):
    """The slash commands changed; the list is whole."""

    commands: list[Object]


class ModelRefusalFallbackFrame(SystemPart, tag="model_refusal_fallback"):
    """The model refused and another one takes over."""

    original_model: str
    fallback_model: OptionalText = UNSET
    content: Text = UNSET
    request_id: OptionalText = UNSET
    api_refusal_category: OptionalText = UNSET
    api_refusal_explanation: OptionalText = UNSET
    refused_user_message_uuid: OptionalText = UNSET
    trigger: Text = UNSET
    direction: Text = UNSET
    scope: Text = UNSET
    retracted_message_uuids: list[str] | UnsetType = UNSET


class ModelRefusalNoFallbackFrame(SystemPart, tag="model_refusal_no_fallback"):
    """The model refused and there is no other one."""

    original_model: str
    content: Text = UNSET
    request_id: OptionalText = UNSET
    api_refusal_category: OptionalText = UNSET
    api_refusal_explanation: OptionalText = UNSET
    refused_user_message_uuid: OptionalText = UNSET


class MemoryRecallFrame(SystemPart, tag="memory_recall"):
    """Memories entered the conversation; each has a path, a scope and perhaps its content."""

    mode: str
    memories: list[Object]


class FilesPersistedFrame(SystemPart, tag="files_persisted"):
    """Files of a hosted session were stored, or not."""

    files: list[Object]
    failed: list[Object]
    processed_at: str


class SessionWritesLostFrame(SystemPart, tag="session_writes_lost"):
    """The disk was full: parts of the transcript are lost."""

    error_code: str
    lost: list[Any]
    transcript_session_ids: list[str] | UnsetType = UNSET


class WorkerShuttingDownFrame(SystemPart, tag="worker_shutting_down"):
    """The agent ends after the current turn."""

    reason: str


class MirrorErrorFrame(SystemPart, tag="mirror_error"):
    """A part of the transcript could not be written to the session store. Made by hosts, not by agents."""

    error: str
    key: Object | UnsetType | None = UNSET
