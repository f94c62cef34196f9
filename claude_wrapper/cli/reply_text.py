"""A reply that arrives in pieces: which of its lines are complete, and what is still to come."""

from __future__ import annotations

from typing import Any

__all__ = ["ReplyText"]


class ReplyText:
    """Gives each line of a reply once: as soon as it is complete, or when the reply is whole."""

    def __init__(self) -> None:
        self._given = ""
        self.pending = ""
        """The line that is being written."""

    def piece(self, event: dict[str, Any]) -> str:
        """Take an event of the model's stream; return the lines that it completes."""
        if event.get("type") == "content_block_start":
            self._given = self.pending = ""
        delta = event.get("delta")
        text = delta.get("text") if isinstance(delta, dict) and delta.get("type") == "text_delta" else None
        if not isinstance(text, str):
            return ""
        complete, newline, self.pending = (self.pending + text).rpartition("\n")
        self._given += complete + newline
        return complete

    def whole(self, text: str) -> str:
        """Take the finished text; return what was not given of it."""
        given, self._given, self.pending = self._given, "", ""
        return text.removeprefix(given)

    def rest(self) -> str:
        """Return what was begun and never finished."""
        rest, self._given, self.pending = self.pending, "", ""
        return rest
