"""From what a transcript says to what the session functions give, for transcripts of files and of stores."""

from __future__ import annotations

from claude_wrapper.session_records import SDKSessionInfo, SessionMessage
from claude_wrapper.store.lines import Lines
from claude_wrapper.store.shown import shown
from claude_wrapper.store.subagents import Parentage
from claude_wrapper.store.summary import Facts

__all__ = ["messages", "session_info"]


def session_info(
    facts: Facts, session_id: str, last_modified: int, *, size: int | None, directory: str | None
) -> SDKSessionInfo | None:
    """Return what a list shows of a session; None for a subagent's, and where nobody said anything."""
    headline = facts.headline
    if headline is None:
        return None
    return SDKSessionInfo(
        session_id,
        headline,
        last_modified,
        size,
        facts.title,
        facts.opening,
        facts.git_branch or None,
        facts.cwd or directory,
        facts.tag or None,
        facts.created_at or None,
    )


def messages(
    lines: Lines, limit: int | None, offset: int, parentage: Parentage | None = None
) -> list[SessionMessage]:
    """Return messages of a conversation; with a `parentage` of that of a subagent."""
    origin = parentage or Parentage()
    return [
        SessionMessage(
            "assistant" if entry.type == "assistant" else "user",
            entry.uuid,
            entry.session_id,
            entry.message,
            origin.tool_use_id,
            origin.parent_agent_id,
        )
        for entry in shown(lines, limit, offset, whole=parentage is not None)
    ]
