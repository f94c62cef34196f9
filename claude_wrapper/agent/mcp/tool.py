"""A tool of an MCP server, in the form in which the agent knows tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .names import display_name, tool_name
from .schema import flattened

__all__ = ["McpToolFacts", "shortened"]

_ANY_OBJECT: dict[str, Any] = {"type": "object", "properties": {}}
_MOST_CHARACTERS = 500_000
_LONGEST_TEXT = 2048


def shortened(text: str) -> str:
    """A description or instruction, not longer than servers may make it."""
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "… [truncated]"


class McpToolFacts:
    """What a server says about one of its tools."""

    def __init__(self, server: str, described: Mapping[str, Any]) -> None:
        self.own_name = str(described.get("name") or "")
        self.name = tool_name(server, self.own_name)
        self.description = shortened(str(described.get("description") or ""))
        schema = described.get("inputSchema")
        self.input_schema: dict[str, Any] = (
            flattened(schema) if isinstance(schema, dict) and schema else _ANY_OBJECT
        )
        annotations = described.get("annotations")
        self.annotations: dict[str, Any] = annotations if isinstance(annotations, dict) else {}
        title = self.annotations.get("title") or described.get("title")
        self.display_name = display_name(self.own_name, title if isinstance(title, str) else None)
        meta = described.get("_meta")
        self.meta: dict[str, Any] = meta if isinstance(meta, dict) else {}

    @property
    def most_characters(self) -> int | None:
        """The limit that the server sets for the tool's results."""
        most = self.meta.get("anthropic/maxResultSizeChars")
        if not isinstance(most, int) or isinstance(most, bool) or most <= 0:
            return None
        return min(most, _MOST_CHARACTERS)

    @property
    def read_only(self) -> bool:
        """Whether the server says that the tool changes nothing."""
        return self.annotations.get("readOnlyHint") is True

    @property
    def only_a_person_allows(self) -> bool:
        """Whether the server says that a person has to allow each call."""
        return self.meta.get("anthropic/requiresUserInteraction") is True

    def shown_annotations(self) -> dict[str, bool]:
        """The hints as hosts are told them."""
        names = {"readOnlyHint": "readOnly", "destructiveHint": "destructive", "openWorldHint": "openWorld"}
        return {short: True for name, short in names.items() if self.annotations.get(name) is True}
