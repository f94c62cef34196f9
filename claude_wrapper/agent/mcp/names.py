"""How the tools of servers are named to the model and to people."""

from __future__ import annotations

import re

__all__ = ["display_name", "tool_name"]

_OTHER = re.compile(r"[^a-zA-Z0-9_-]")
_WORDS = re.compile(r"[_\-\s]+")


def tool_name(server: str, tool: str) -> str:
    """The name under which the model knows a server's tool."""
    return f"mcp__{_OTHER.sub('_', server)}__{_OTHER.sub('_', tool)}"


def display_name(tool: str, title: str | None) -> str:
    """The name for people: the title the server gives, else the name in words."""
    if title:
        return title
    return " ".join(word[:1].upper() + word[1:] for word in _WORDS.split(tool) if word) or tool
