"""What may be sent as a prompt."""

from __future__ import annotations

from typing import Any

from claude_wrapper.errors import MessageParseError

__all__ = ["check_prompt", "composed", "prompt_frame"]


def prompt_frame(text: str, session_id: str) -> dict[str, Any]:
    """Return the frame of a prompt that is plain text."""
    return {
        "type": "user",
        "session_id": session_id,
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": None,
    }


def composed(frame: dict[str, Any]) -> dict[str, Any]:
    """Mark a prompt as one to be taken as it is: no slash commands, no mentions of files."""
    check_prompt(frame)
    return {**frame, "client_composed": True} if frame.get("type") == "user" else frame


def check_prompt(frame: Any) -> None:
    """Refuse what cannot be a prompt; MessageParseError says what it is."""
    if not isinstance(frame, dict):
        raise MessageParseError(f"A prompt must be a dict such as a `user` frame, got {type(frame).__name__}")
    message = frame.get("message")
    if frame.get("type") == "user" and not (isinstance(message, dict) and "content" in message):
        raise MessageParseError("A `user` frame must have a message with a role and content", frame)
