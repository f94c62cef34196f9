"""Finding the text in a user entry that tells people what a session is about."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["opening_of", "shortened"]

_LIMIT = 200

# What programs write in the user's role (as of November 2026).
_NOT_TYPED = re.compile(
    r"<local-command-stdout>|<session-start-hook>|<tick>|<goal>|\[Request interrupted by user[^\]]*\]"
    r"|<ide_opened_file>.*</ide_opened_file>$|<ide_selection>.*</ide_selection>$"
)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>")


def opening_of(content: Any) -> tuple[str | None, str | None]:
    """Return what a user typed, shortened, and the slash command that was called, where there is one.

    `content` is that of a message: text, or a list of blocks.
    """
    command = None
    for text in _texts(content):
        line = text.replace("\n", " ").strip()
        if not line or _NOT_TYPED.match(line):
            continue
        called = _COMMAND.search(line)
        if called is None:
            return shortened(line), command
        command = command or called[1]
    return None, command


def shortened(text: str) -> str:
    """Return a text, cut at a length that fits a list."""
    return text if len(text) <= _LIMIT else text[:_LIMIT].rstrip() + "…"


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    blocks = [block for block in content if isinstance(block, dict)]
    if any(block.get("type") == "tool_result" for block in blocks):
        return []
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return [text for text in texts if isinstance(text, str)]
