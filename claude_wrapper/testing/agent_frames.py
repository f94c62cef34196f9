"""Typical frames of an agent, as dicts that a test may change before it has them sent."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "SESSION_ID",
    "assistant",
    "control_request",
    "delta",
    "init",
    "result",
    "stamped",
    "stream_event",
    "tool_call",
    "tool_result",
]

SESSION_ID = "5e551011-0000-4000-8000-000000000001"
MODEL = "claude-scripted"
UNSTAMPED = ("control_request", "control_response", "control_cancel_request", "keep_alive")

Frame = dict[str, Any]


def stamped(frame: Mapping[str, Any]) -> Frame:
    """The frame with a session id and a new uuid, where its kind has them and it does not."""
    if frame.get("type") in UNSTAMPED:
        return dict(frame)
    return {"session_id": SESSION_ID, "uuid": str(uuid.uuid4()), **frame}


def init(**fields: Any) -> Frame:
    """The frame that opens a turn."""
    return {
        "type": "system",
        "subtype": "init",
        "cwd": "/",
        "tools": [],
        "mcp_servers": [],
        "model": MODEL,
        "permissionMode": "default",
        "slash_commands": [],
        "apiKeySource": "none",
        "claude_code_version": "2.1.332",
        "output_style": "default",
        "agents": [],
        "skills": [],
        "plugins": [],
        **fields,
    }


def assistant(
    content: str | Sequence[Mapping[str, Any]], *, message_id: str = "msg_1", **fields: Any
) -> Frame:
    """A message of the model: a text, or content blocks."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else [dict(b) for b in content]
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": blocks,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


def tool_call(
    tool: str, tool_input: Mapping[str, Any], *, tool_use_id: str = "toolu_1", **fields: Any
) -> Frame:
    """A message of the model that calls a tool."""
    use = {"type": "tool_use", "id": tool_use_id, "name": tool, "input": dict(tool_input)}
    return assistant([use], **fields)


def tool_result(
    content: Any, *, tool_use_id: str = "toolu_1", is_error: bool | None = None, **fields: Any
) -> Frame:
    """The result of a tool call."""
    block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}
    if is_error is not None:
        block["is_error"] = is_error
    return {
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "parent_tool_use_id": None,
        **fields,
    }


def result(text: str = "done", **fields: Any) -> Frame:
    """The frame that ends a turn, well unless the fields say otherwise."""
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 1,
        "duration_api_ms": 1,
        "num_turns": 1,
        "result": text,
        "stop_reason": "end_turn",
        "total_cost_usd": 0.0,
        "usage": {"input_tokens": 10, "output_tokens": 1},
        "modelUsage": {},
        "permission_denials": [],
        "terminal_reason": "completed",
        **fields,
    }


def stream_event(event: Mapping[str, Any], **fields: Any) -> Frame:
    """An event of the model's stream, passed on."""
    return {"type": "stream_event", "event": dict(event), "parent_tool_use_id": None, **fields}


def delta(text: str, *, index: int = 0) -> Frame:
    """A piece of text that streams in."""
    piece = {"type": "text_delta", "text": text}
    return stream_event({"type": "content_block_delta", "index": index, "delta": piece})


def control_request(request_id: str, subtype: str, **fields: Any) -> Frame:
    """A question of the agent to its host."""
    return {"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}}
