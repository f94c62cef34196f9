"""Frames that carry the conversation: prompts, replies, tool results, results, stream events."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType, field

from .blocks import AnyBlock
from .records import Flag, Frame, Number, Object, OptionalText, Part, Text

__all__ = [
    "AssistantBody",
    "AssistantFrame",
    "ConversationResetFrame",
    "PromptBody",
    "PromptFrame",
    "RateLimitEventFrame",
    "RateLimitInfoBody",
    "ResultFrame",
    "StreamEventFrame",
    "ToolResultMeta",
    "UserBody",
    "UserFrame",
]


class PromptBody(Part):
    """What the user says. Blocks stay as they came: the agent passes them to the model untouched."""

    role: str
    content: str | list[Object]


class PromptFrame(Frame, tag="user"):
    """Host to agent: a prompt."""

    message: PromptBody
    parent_tool_use_id: Any = UNSET
    session_id: Any = UNSET
    uuid: Any = UNSET
    """What stands beside the message is of use only in its right type; a wrong one costs no prompt."""
    priority: Any = UNSET
    client_composed: Any = UNSET
    should_query: Any = field(name="shouldQuery", default=UNSET)
    is_synthetic: Any = field(name="isSynthetic", default=UNSET)
    origin: Any = UNSET
    timestamp: Any = UNSET
    pasted_content: Any = UNSET
    inline_pastes: Any = UNSET
    tool_use_result: Any = UNSET


class UserBody(Part):
    """Tool results, notes of the agent and echoes of prompts."""

    role: str
    content: str | list[AnyBlock]


class ToolResultMeta(Part):
    """How the call behind a tool result was decided. The bodies stay open: agents differ."""

    id: str
    permission_decision: Object | UnsetType = UNSET
    non_execution_kind: Text = UNSET


class UserFrame(Frame, tag="user"):
    """Agent to host: something in the user's role that entered the conversation."""

    message: UserBody
    parent_tool_use_id: OptionalText = UNSET
    session_id: Text = UNSET
    uuid: Text = UNSET
    timestamp: Text = UNSET
    tool_use_result: Any = UNSET
    tool_result_meta: list[ToolResultMeta] | UnsetType = UNSET
    is_synthetic: Flag = field(name="isSynthetic", default=UNSET)
    is_replay: Flag = field(name="isReplay", default=UNSET)
    retracted_message_uuids: list[str] | UnsetType = UNSET
    refused_message_id: Text = UNSET
    refusal_retry: Flag = UNSET
    agent_id: Text = UNSET
    subagent_type: Text = UNSET
    task_description: Text = UNSET
    origin: Object | UnsetType | None = UNSET
    file_attachments: Any = UNSET


class AssistantBody(Part):
    """The model's message as far as it is known when the frame is written."""

    content: list[AnyBlock]
    model: str
    id: Text = UNSET
    type: Text = UNSET
    role: Text = UNSET
    stop_reason: OptionalText = UNSET
    stop_sequence: OptionalText = UNSET
    stop_details: Object | UnsetType | None = UNSET
    usage: Object | UnsetType | None = UNSET
    context_management: Object | UnsetType | None = UNSET
    container: Object | UnsetType | None = UNSET
    diagnostics: Any = UNSET


class AssistantFrame(Frame, tag="assistant"):
    """Agent to host: one finished block of a reply, or a message the agent made itself."""

    message: AssistantBody
    parent_tool_use_id: OptionalText = UNSET
    session_id: Text = UNSET
    uuid: Text = UNSET
    timestamp: Text = UNSET
    error: OptionalText = UNSET
    is_api_error_message: Flag = UNSET
    api_error_status: int | UnsetType | None = UNSET
    api_error_type: OptionalText = UNSET
    api_error: OptionalText = UNSET
    aborted: Flag = UNSET
    user_message_uuid: Text = UNSET
    user_message_uuids: list[str] | UnsetType = UNSET
    agent_id: Text = UNSET
    subagent_type: Text = UNSET
    task_description: Text = UNSET
    tool_use_meta: list[Object] | UnsetType = UNSET
    thinking_duration_ms: Number = UNSET
    thinking_display: Text = UNSET
    local_command_source: Any = UNSET
    local_command_run: Any = UNSET
    local_command_outcome: Any = UNSET
    context_usage: Any = UNSET
    usage_report: Any = UNSET
    supersedes: Any = UNSET
    refused_message_id: Text = UNSET
    request_id: OptionalText = UNSET
    resume_reason: OptionalText = UNSET
    resumed_from_incomplete_thinking: Flag = UNSET


class ResultFrame(Frame, tag="result"):
    """Agent to host: the end of a turn, with what it cost and how it ended."""

    subtype: str
    is_error: bool
    duration_ms: int | float
    duration_api_ms: int | float
    num_turns: int
    session_id: str
    uuid: Text = UNSET
    stop_reason: OptionalText = UNSET
    terminal_reason: OptionalText = UNSET
    total_cost_usd: float | UnsetType | None = UNSET
    usage: Object | UnsetType | None = UNSET
    model_usage: dict[str, Object] | UnsetType | None = field(name="modelUsage", default=UNSET)
    model_usage_since_last_result: dict[str, Object] | UnsetType | None = UNSET
    permission_denials: list[Object] | UnsetType | None = UNSET
    result: OptionalText = UNSET
    structured_output: Any = UNSET
    deferred_tool_use: Object | UnsetType | None = UNSET
    local_command: Text = UNSET
    errors: list[str] | UnsetType | None = UNSET
    api_error_status: int | UnsetType | None = UNSET
    api_error_type: OptionalText = UNSET
    api_error: OptionalText = UNSET
    startup_failure_reason: Text = UNSET
    invalid_config_file: Text = UNSET
    ttft_ms: Number | None = UNSET
    ttft_stream_ms: Number | None = UNSET
    time_to_request_ms: Number | None = UNSET
    first_content_frame_ms: Number | None = UNSET
    queued_turn_count: int | UnsetType = UNSET
    result_index: int | UnsetType = UNSET
    fast_mode_state: Text = UNSET
    fast_mode_disabled_reason: Text = UNSET
    subagent_stats: Object | UnsetType = UNSET
    safety_stops: int | UnsetType = UNSET
    origin: Object | UnsetType | None = UNSET
    user_message_uuid: Text = UNSET
    user_message_uuids: list[str] | UnsetType = UNSET
    begun_message_ids: list[str] | UnsetType = UNSET
    resume_reason: OptionalText = UNSET
    credential_expires_at: Any = UNSET


class StreamEventFrame(Frame, tag="stream_event"):
    """Agent to host: one event of the model's stream, passed on as it came."""

    event: msgspec.Raw
    session_id: Text = UNSET
    uuid: Text = UNSET
    parent_tool_use_id: OptionalText = UNSET
    ttft_ms: Number = UNSET
    api_message_id: OptionalText = UNSET
    thinking_display: Text = UNSET
    abandoned_blocks: Any = UNSET
    user_message_uuid: Text = UNSET
    user_message_uuids: list[str] | UnsetType = UNSET
    owed_rows: Any = UNSET


class RateLimitInfoBody(Part, rename="camel"):
    """The state of one rate limit of a subscription login."""

    status: str
    resets_at: int | UnsetType | None = UNSET
    rate_limit_type: OptionalText = UNSET
    utilization: float | UnsetType | None = UNSET
    overage_status: OptionalText = UNSET
    overage_resets_at: int | UnsetType | None = UNSET
    overage_disabled_reason: OptionalText = UNSET
    is_using_overage: Flag = UNSET


class RateLimitEventFrame(Frame, tag="rate_limit_event"):
    """Agent to host: a rate limit changed its state."""

    rate_limit_info: RateLimitInfoBody
    uuid: Text = UNSET
    session_id: Text = UNSET


class ConversationResetFrame(Frame, tag="conversation_reset"):
    """Agent to host: the conversation was cleared; later frames carry the new id."""

    new_conversation_id: str
    uuid: Text = UNSET
    session_id: Text = UNSET
    trigger: Text = UNSET
    user_message_uuid: Text = UNSET
    timestamp: Text = UNSET
