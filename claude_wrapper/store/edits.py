"""The entries by which a session gets another title or tag."""

from __future__ import annotations

import unicodedata
from typing import Any

__all__ = ["check_tag", "check_title", "tag_entry", "title_entry"]

_UNSEEN = frozenset({"Cf", "Cn", "Co", "Cs"})
"""Kinds of characters that nobody sees: two tags that look the same shall be the same."""


def check_title(title: str) -> str:
    """Return a title as it is kept; raises ValueError for an empty one."""
    title = title.strip()
    if not title:
        raise ValueError("title must be non-empty")
    return title


def check_tag(tag: str) -> str:
    """Return a tag as it is kept; raises ValueError for an empty one."""
    plain = unicodedata.normalize("NFKC", tag)
    plain = "".join(char for char in plain if unicodedata.category(char) not in _UNSEEN).strip()
    if not plain:
        raise ValueError("tag must be non-empty (use None to clear)")
    return plain


def title_entry(session_id: str, title: str) -> dict[str, Any]:
    """Return the entry that gives a session a title."""
    return {"type": "custom-title", "customTitle": title, "sessionId": session_id}


def tag_entry(session_id: str, tag: str | None) -> dict[str, Any]:
    """Return the entry that gives a session a tag; None takes it away."""
    return {"type": "tag", "tag": tag or "", "sessionId": session_id}
