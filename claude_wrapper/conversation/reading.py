"""Frames to messages: what the wire carries becomes what users hold."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import UNSET

from claude_wrapper import messages as m
from claude_wrapper.wire.blocks import (
    AnyBlock,
    ServerToolResultBlock,
    ServerToolUseBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
)
from claude_wrapper.wire.messages import (
    AssistantFrame,
    ConversationResetFrame,
    RateLimitEventFrame,
    ResultFrame,
    UserFrame,
)

__all__ = [
    "assistant_message",
    "conversation_reset",
    "lenient_message",
    "rate_limit_event",
    "result_message",
    "system_message",
    "user_message",
]

_PUBLIC_BLOCKS = frozenset(
    {
        TextBlock,
        ThinkingBlock,
        ToolUseBlock,
        ToolResultBlock,
        ServerToolUseBlock,
        ServerToolResultBlock,
        UnknownBlock,
    }
)


def _or_none(value: Any) -> Any:
    return None if value is UNSET else value


def _public_blocks(content: list[AnyBlock]) -> list[Any]:
    for block in content:
        if type(block) not in _PUBLIC_BLOCKS:
            return [_public_block(block) for block in content]
    return content


def _public_block(block: AnyBlock) -> Any:
    return block if type(block) in _PUBLIC_BLOCKS else UnknownBlock(msgspec.to_builtins(block))


def _block(raw: Any) -> Any:
    """Read one block of a frame that did not decode as a whole."""
    if isinstance(raw, str):
        return TextBlock(raw)
    if isinstance(raw, dict) and raw.get("type") == "thinking":
        raw = {"thinking": "", "signature": "", **raw}
    try:
        return _public_block(msgspec.convert(raw, AnyBlock))
    except msgspec.ValidationError:
        return UnknownBlock(raw if isinstance(raw, dict) else {"value": raw})


def _content(raw: Any) -> list[Any]:
    return [_block(block) for block in raw] if isinstance(raw, list) else [_block(raw)]


def _origin(origin: Any) -> m.MessageOrigin | None:
    if isinstance(origin, dict) and isinstance(origin.get("kind"), str):
        return cast("m.MessageOrigin", origin)
    return None


def user_message(frame: UserFrame) -> m.UserMessage:
    """Read a `user` frame."""
    content = frame.message.content
    return m.UserMessage(
        content if isinstance(content, str) else _public_blocks(content),
        _or_none(frame.uuid),
        _or_none(frame.parent_tool_use_id),
        _or_none(frame.tool_use_result),
        _origin(frame.origin),
    )


def assistant_message(frame: AssistantFrame) -> m.AssistantMessage:
    """Read an `assistant` frame."""
    body = frame.message
    return m.AssistantMessage(
        _public_blocks(body.content),
        body.model,
        _or_none(frame.parent_tool_use_id),
        _or_none(frame.error),
        _or_none(body.usage),
        _or_none(body.id),
        _or_none(body.stop_reason),
        _or_none(frame.session_id),
        _or_none(frame.uuid),
        _or_none(frame.user_message_uuid),
        _or_none(frame.user_message_uuids),
    )


def result_message(frame: ResultFrame) -> m.ResultMessage:
    """Read a `result` frame."""
    return m.ResultMessage(
        subtype=frame.subtype,
        duration_ms=cast("int", frame.duration_ms),
        duration_api_ms=cast("int", frame.duration_api_ms),
        is_error=frame.is_error,
        num_turns=frame.num_turns,
        session_id=frame.session_id,
        stop_reason=_or_none(frame.stop_reason),
        total_cost_usd=_or_none(frame.total_cost_usd),
        usage=_or_none(frame.usage),
        result=_or_none(frame.result),
        structured_output=_or_none(frame.structured_output),
        model_usage=_or_none(frame.model_usage),
        permission_denials=_or_none(frame.permission_denials),
        deferred_tool_use=_deferred(_or_none(frame.deferred_tool_use)),
        errors=_or_none(frame.errors),
        api_error_status=_or_none(frame.api_error_status),
        uuid=_or_none(frame.uuid),
        terminal_reason=_or_none(frame.terminal_reason),
        origin=_origin(frame.origin),
        user_message_uuid=_or_none(frame.user_message_uuid),
        user_message_uuids=_or_none(frame.user_message_uuids),
    )


def _deferred(raw: Any) -> m.DeferredToolUse | None:
    if not isinstance(raw, dict):
        return None
    return m.DeferredToolUse(raw.get("id", ""), raw.get("name", ""), raw.get("input") or {})


def rate_limit_event(frame: RateLimitEventFrame, raw: dict[str, Any]) -> m.RateLimitEvent:
    """Read a `rate_limit_event` frame; `raw` is the same frame as a dict."""
    info = frame.rate_limit_info
    return m.RateLimitEvent(
        m.RateLimitInfo(
            cast("m.RateLimitStatus", info.status),
            _or_none(info.resets_at),
            _or_none(info.rate_limit_type),
            _or_none(info.utilization),
            _or_none(info.overage_status),
            _or_none(info.overage_resets_at),
            _or_none(info.overage_disabled_reason),
            raw.get("rate_limit_info", {}),
        ),
        _or_none(frame.uuid) or "",
        _or_none(frame.session_id) or "",
    )


def conversation_reset(frame: ConversationResetFrame) -> m.ConversationResetMessage:
    """Read a `conversation_reset` frame."""
    return m.ConversationResetMessage(
        frame.new_conversation_id, _or_none(frame.uuid) or "", _or_none(frame.session_id) or ""
    )


def system_message(frame: dict[str, Any]) -> m.SystemMessage:
    """Read a `system` frame into the class of its subtype; fields that are missing are empty."""
    subtype = str(frame.get("subtype", ""))
    get = frame.get
    ids = (str(get("uuid", "")), str(get("session_id", "")))
    match subtype:
        case "task_started":
            return m.TaskStartedMessage(
                subtype,
                frame,
                get("task_id", ""),
                get("description", ""),
                *ids,
                get("tool_use_id"),
                get("task_type"),
            )
        case "task_progress":
            return m.TaskProgressMessage(
                subtype,
                frame,
                get("task_id", ""),
                get("description", ""),
                cast("m.TaskUsage", get("usage") or {}),
                *ids,
                get("tool_use_id"),
                get("last_tool_name"),
            )
        case "task_notification":
            return m.TaskNotificationMessage(
                subtype,
                frame,
                get("task_id", ""),
                cast("m.TaskNotificationStatus", get("status", "")),
                get("output_file", ""),
                get("summary", ""),
                *ids,
                get("tool_use_id"),
                get("usage"),
            )
        case "task_updated":
            patch = get("patch") or {}
            status = patch.get("status") if isinstance(patch, dict) else None
            return m.TaskUpdatedMessage(
                subtype, frame, get("task_id", ""), patch, status, get("session_id"), get("uuid")
            )
        case "hook_started" | "hook_response":
            return m.HookEventMessage(subtype, frame, get("hook_event", ""), get("session_id"), get("uuid"))
        case _:
            return m.SystemMessage(subtype, frame)


def lenient_message(raw: dict[str, Any]) -> m.AnyMessage:
    """Read a message frame whose fields are missing or of another shape than they should be."""
    body = raw.get("message")
    body = body if isinstance(body, dict) else {}
    get = raw.get
    match get("type"):
        case "assistant":
            return m.AssistantMessage(
                _content(body.get("content", [])),
                str(body.get("model", "")),
                get("parent_tool_use_id"),
                get("error"),
                body.get("usage"),
                body.get("id"),
                body.get("stop_reason"),
                get("session_id"),
                get("uuid"),
                get("user_message_uuid"),
                get("user_message_uuids"),
            )
        case "user":
            content = body.get("content", "")
            return m.UserMessage(
                content if isinstance(content, str) else _content(content),
                get("uuid"),
                get("parent_tool_use_id"),
                get("tool_use_result"),
                _origin(get("origin")),
            )
        case "result":
            return _lenient_result(raw)
        case "stream_event" if isinstance(get("event"), dict):
            return m.StreamEvent(
                str(get("uuid", "")), str(get("session_id", "")), raw["event"], get("parent_tool_use_id")
            )
        case "system":
            return system_message(raw)
        case other:
            return m.UnknownMessage(str(other), raw)


def _lenient_result(raw: dict[str, Any]) -> m.ResultMessage:
    get = raw.get
    subtype = str(get("subtype", ""))
    return m.ResultMessage(
        subtype=subtype,
        duration_ms=get("duration_ms") or 0,
        duration_api_ms=get("duration_api_ms") or 0,
        is_error=bool(get("is_error", subtype != "success")),
        num_turns=get("num_turns") or 0,
        session_id=str(get("session_id", "")),
        stop_reason=get("stop_reason"),
        total_cost_usd=get("total_cost_usd"),
        usage=get("usage"),
        result=get("result"),
        structured_output=get("structured_output"),
        model_usage=get("modelUsage"),
        permission_denials=get("permission_denials"),
        deferred_tool_use=_deferred(get("deferred_tool_use")),
        errors=get("errors"),
        api_error_status=get("api_error_status"),
        uuid=get("uuid"),
        terminal_reason=get("terminal_reason"),
        origin=_origin(get("origin")),
        user_message_uuid=get("user_message_uuid"),
        user_message_uuids=get("user_message_uuids"),
    )
