"""Messages back to the frames they came in, for programs that read an agent's output."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import UNSET

from claude_wrapper import messages as m
from claude_wrapper.wire.blocks import UnknownBlock
from claude_wrapper.wire.messages import (
    AssistantBody,
    AssistantFrame,
    ConversationResetFrame,
    ResultFrame,
    UserBody,
    UserFrame,
)

__all__ = ["frame_of"]


def frame_of(message: m.Message | m.UnknownMessage) -> Any:
    """Return what the agent sent, as far as the message holds it."""
    match message:
        case m.AssistantMessage():
            return _assistant(message)
        case m.UserMessage():
            return UserFrame(
                message=UserBody(role="user", content=_content(message.content)),
                parent_tool_use_id=message.parent_tool_use_id,
                **_present(uuid=message.uuid, tool_use_result=message.tool_use_result, origin=message.origin),
            )
        case m.ResultMessage():
            return _result(message)
        case m.ConversationResetMessage():
            return ConversationResetFrame(
                new_conversation_id=message.new_conversation_id,
                **_present(uuid=message.uuid, session_id=message.session_id),
            )
        case m.RateLimitEvent(rate_limit_info=info):
            raw = {"rate_limit_info": info.raw, "uuid": message.uuid, "session_id": message.session_id}
            return {"type": "rate_limit_event", **raw}
        case m.SystemMessage(data=frame) | m.UnknownMessage(data=frame):
            return frame
        case _:
            return message


def _assistant(message: m.AssistantMessage) -> AssistantFrame:
    body = AssistantBody(
        content=_content(message.content),
        model=message.model,
        type="message",
        role="assistant",
        stop_reason=message.stop_reason,
        **_present(id=message.message_id, usage=message.usage),
    )
    return AssistantFrame(
        message=body,
        parent_tool_use_id=message.parent_tool_use_id,
        **_present(
            session_id=message.session_id,
            uuid=message.uuid,
            error=message.error,
            user_message_uuid=message.user_message_uuid,
            user_message_uuids=message.user_message_uuids,
        ),
    )


def _result(message: m.ResultMessage) -> ResultFrame:
    fields = {name: getattr(message, name) for name in message.__struct_fields__}
    deferred = fields["deferred_tool_use"]
    fields["deferred_tool_use"] = None if deferred is None else msgspec.to_builtins(deferred)
    always = {"stop_reason": fields.pop("stop_reason")}
    return ResultFrame(**always, **_present(**fields))


def _present(**fields: Any) -> Any:
    return {name: UNSET if value is None else value for name, value in fields.items()}


def _content(content: Any) -> Any:
    """Return content blocks with those of unknown kinds as they came."""
    if isinstance(content, str):
        return content
    return cast("Any", [block.raw if isinstance(block, UnknownBlock) else block for block in content])
