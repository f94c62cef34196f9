"""The messages that users get from an agent, with the names and fields of the official SDK."""

# No `from __future__ import annotations` here: TypedDict reads NotRequired and Required from real annotations.

import sys
from typing import Any, Literal

import msgspec

from claude_wrapper.wire.blocks import ContentBlock, UnknownBlock
from claude_wrapper.wire.records import Record

if sys.version_info >= (3, 11):
    from typing import NotRequired, Required, TypedDict
else:
    from typing_extensions import NotRequired, Required, TypedDict

__all__ = [
    "TERMINAL_TASK_STATUSES",
    "AssistantMessage",
    "AssistantMessageError",
    "ConversationResetMessage",
    "DeferredToolUse",
    "HookEventMessage",
    "Message",
    "MessageOrigin",
    "MessageOriginKind",
    "MirrorErrorMessage",
    "ModelUsage",
    "RateLimitEvent",
    "RateLimitInfo",
    "RateLimitStatus",
    "RateLimitType",
    "ResultMessage",
    "SessionKey",
    "StreamEvent",
    "SystemMessage",
    "TaskNotificationMessage",
    "TaskNotificationOriginSubkind",
    "TaskNotificationStatus",
    "TaskProgressMessage",
    "TaskStartedMessage",
    "TaskUpdatedMessage",
    "TaskUpdatedStatus",
    "TaskUsage",
    "UnknownMessage",
    "UserMessage",
]

AssistantMessageError = Literal[
    "authentication_failed", "billing_error", "rate_limit", "invalid_request", "server_error", "unknown"
]
MessageOriginKind = Literal[
    "human",
    "channel",
    "peer",
    "task-notification",
    "coordinator",
    "unclassified",
    "observer",
    "auto-continuation",
    "observer-activity",
]
RateLimitStatus = Literal["allowed", "allowed_warning", "rejected"]
RateLimitType = Literal["five_hour", "seven_day", "seven_day_opus", "seven_day_sonnet", "overage"]
TaskNotificationStatus = Literal["completed", "failed", "stopped"]
TaskNotificationOriginSubkind = Literal["scheduled-trigger", "peer-send-message"]
TERMINAL_TASK_STATUSES = frozenset({"completed", "failed", "killed", "stopped"})
"""The states after which nothing more comes of a task."""
TaskUpdatedStatus = Literal["pending", "running", "paused", "completed", "failed", "killed"]

MessageOrigin = TypedDict(
    "MessageOrigin",
    {
        "kind": Required[MessageOriginKind],
        "server": str,
        "from": str,
        "name": str,
        "fromSession": str,
        "senderTaskId": str,
        "body": str,
        "verifiedPeerPid": int,
        "subkind": TaskNotificationOriginSubkind,
    },
    total=False,
)
"""Where a message came from when it was not the user who wrote it."""


class ModelUsage(TypedDict):
    """What one model used and cost, as a running total of the session."""

    inputTokens: int
    outputTokens: int
    cacheReadInputTokens: int
    cacheCreationInputTokens: int
    webSearchRequests: int
    costUSD: float
    contextWindow: int
    maxOutputTokens: int
    canonicalModel: NotRequired[str]
    provider: NotRequired[str]


class TaskUsage(TypedDict):
    """What a task has used so far."""

    total_tokens: int
    tool_uses: int
    duration_ms: int


class SessionKey(TypedDict):
    """Names a session in a store; `subpath` names a subagent's transcript within it."""

    project_key: str
    session_id: str
    subpath: NotRequired[str]


class UserMessage(Record):
    """Something in the user's role: a tool result, a note of the agent, an echoed prompt."""

    content: str | list[ContentBlock]
    uuid: str | None = None
    parent_tool_use_id: str | None = None
    tool_use_result: dict[str, Any] | None = None
    """The tool's structured output; a string for failures, a list for MCP tools."""
    origin: MessageOrigin | None = None


class AssistantMessage(Record):
    """One finished block of the model's reply; blocks of one reply share `message_id`."""

    content: list[ContentBlock]
    model: str
    parent_tool_use_id: str | None = None
    error: AssistantMessageError | None = None
    usage: dict[str, Any] | None = None
    message_id: str | None = None
    stop_reason: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None


class SystemMessage(Record):
    """An event of the session; `data` is the whole frame."""

    subtype: str
    data: dict[str, Any]


class TaskStartedMessage(SystemMessage):
    """A subagent or a background command began."""

    task_id: str
    description: str
    uuid: str
    session_id: str
    tool_use_id: str | None = None
    task_type: str | None = None


class TaskProgressMessage(SystemMessage):
    """A task used a tool."""

    task_id: str
    description: str
    usage: TaskUsage
    uuid: str
    session_id: str
    tool_use_id: str | None = None
    last_tool_name: str | None = None


class TaskNotificationMessage(SystemMessage):
    """A task ended."""

    task_id: str
    status: TaskNotificationStatus
    output_file: str
    summary: str
    uuid: str
    session_id: str
    tool_use_id: str | None = None
    usage: TaskUsage | None = None


class TaskUpdatedMessage(SystemMessage):
    """A task changed; `patch` holds what is new."""

    task_id: str
    patch: dict[str, Any]
    status: TaskUpdatedStatus | None = None
    session_id: str | None = None
    uuid: str | None = None


class HookEventMessage(SystemMessage):
    """A command hook started or ended."""

    hook_event_name: str = ""
    session_id: str | None = None
    uuid: str | None = None


class MirrorErrorMessage(SystemMessage):
    """A part of the transcript could not be written to the session store."""

    key: SessionKey | None = None
    error: str = ""


class DeferredToolUse(Record):
    """The tool call that a hook deferred, for whoever goes on with the session."""

    id: str
    name: str
    input: dict[str, Any]


class ResultMessage(Record):
    """The end of a turn: how it ended and what it cost.

    `duration_ms` and `duration_api_ms` are milliseconds; `total_cost_usd` is the running total of
    the session in US dollars.
    """

    subtype: str
    duration_ms: int
    duration_api_ms: int
    is_error: bool
    num_turns: int
    session_id: str
    stop_reason: str | None = None
    total_cost_usd: float | None = None
    usage: dict[str, Any] | None = None
    result: str | None = None
    structured_output: Any = None
    model_usage: dict[str, ModelUsage] | None = None
    permission_denials: list[Any] | None = None
    deferred_tool_use: DeferredToolUse | None = None
    errors: list[str] | None = None
    api_error_status: int | None = None
    uuid: str | None = None
    terminal_reason: str | None = None
    origin: MessageOrigin | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None


class StreamEvent(Record, tag_field="type", tag="stream_event"):
    """One event of the model's stream, with `include_partial_messages`. Decoded straight from the wire."""

    uuid: str
    session_id: str
    event: dict[str, Any]
    parent_tool_use_id: str | None = None
    user_message_uuid: str | None = None
    user_message_uuids: list[str] | None = None


class RateLimitInfo(Record):
    """The state of a rate limit; times are Unix seconds, `utilization` a share from 0 to 1."""

    status: RateLimitStatus
    resets_at: int | None = None
    rate_limit_type: RateLimitType | None = None
    utilization: float | None = None
    overage_status: RateLimitStatus | None = None
    overage_resets_at: int | None = None
    overage_disabled_reason: str | None = None
    raw: dict[str, Any] = msgspec.field(default_factory=dict)


class RateLimitEvent(Record):
    """A rate limit changed its state."""

    rate_limit_info: RateLimitInfo
    uuid: str
    session_id: str


class ConversationResetMessage(Record):
    """The conversation was cleared; later messages carry the new id."""

    new_conversation_id: str
    uuid: str
    session_id: str


class UnknownMessage(Record):
    """A frame of a type that this library does not know; `data` is the whole frame."""

    type: str
    data: dict[str, Any]


Message = (
    UserMessage
    | AssistantMessage
    | SystemMessage
    | ResultMessage
    | StreamEvent
    | RateLimitEvent
    | ConversationResetMessage
)
"""What the iterators give. An agent newer than this library may add UnknownMessage and UnknownBlock."""

AnyMessage = Message | UnknownMessage
AnyContent = ContentBlock | UnknownBlock
