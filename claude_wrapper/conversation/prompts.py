"""What may be sent as a prompt."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

from claude_wrapper.errors import MessageParseError
from claude_wrapper.wire.codec import encode_line

__all__ = ["check_prompt", "check_prompts", "composed", "prompt_frame", "prompt_line"]


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
    return {**frame, "client_composed": True} if frame.get("type") == "user" else frame


def prompt_line(frame: dict[str, Any]) -> bytes:
    """Return a prompt as it is sent; MessageParseError when it holds what JSON cannot."""
    try:
        return encode_line(frame)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise MessageParseError(f"A prompt must be JSON: {error}", frame) from error


def check_prompts(prompt: Any) -> None:
    """Refuse what is neither a prompt nor gives any; before an agent is started for it."""
    if not isinstance(prompt, str | AsyncIterable):
        hint = "; make it an async generator" if hasattr(prompt, "__iter__") else ""
        raise MessageParseError(
            f"prompt must be a str or an async iterable of dicts, got {type(prompt).__name__}{hint}"
        )


def check_prompt(frame: Any) -> None:
    """Refuse what cannot be a prompt; MessageParseError says what it is."""
    if not isinstance(frame, dict):
        raise MessageParseError(f"A prompt must be a dict such as a `user` frame, got {type(frame).__name__}")
    message = frame.get("message")
    if frame.get("type") == "user" and not (isinstance(message, dict) and "content" in message):
        raise MessageParseError("A `user` frame must have a message with a role and content", frame)
