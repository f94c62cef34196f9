"""What the session functions give, with the names and fields of the official SDK."""

from typing import Any, Literal

from claude_wrapper.wire.records import Record

__all__ = ["ForkSessionResult", "SDKSessionInfo", "SessionMessage"]


class SDKSessionInfo(Record):
    """What a list shows of a session. Times are in milliseconds since 1970."""

    session_id: str
    summary: str
    """A title, or else the latest prompt, or else the first."""
    last_modified: int
    file_size: int | None = None
    """The transcript's size in bytes, where it was read."""
    custom_title: str | None = None
    first_prompt: str | None = None
    git_branch: str | None = None
    cwd: str | None = None
    tag: str | None = None
    created_at: int | None = None


class SessionMessage(Record):
    """A message of a transcript; `message` has the form of the Messages API."""

    type: Literal["user", "assistant"]
    uuid: str
    session_id: str
    message: Any
    parent_tool_use_id: str | None = None
    """In a subagent's transcript: the tool call that began the subagent."""
    parent_agent_id: str | None = None
    """In a subagent's transcript: the subagent that began it, unless the main thread did."""


class ForkSessionResult(Record):
    """The session that a fork has made."""

    session_id: str
