"""Content blocks: the pieces that the content of a message is made of."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .records import Record

__all__ = [
    "AnyBlock",
    "ContentBlock",
    "DocumentBlock",
    "ImageBlock",
    "RedactedThinkingBlock",
    "ServerToolName",
    "ServerToolResultBlock",
    "ServerToolUseBlock",
    "TextBlock",
    "ThinkingBlock",
    "ToolResultBlock",
    "ToolUseBlock",
    "UnknownBlock",
]

ServerToolName = Literal[
    "advisor",
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
]


class TextBlock(Record, tag_field="type", tag="text"):
    """Text that the model or the user wrote."""

    text: str


class ThinkingBlock(Record, tag_field="type", tag="thinking"):
    """The model's reasoning, with the signature that lets it be sent back."""

    thinking: str
    signature: str


class ToolUseBlock(Record, tag_field="type", tag="tool_use"):
    """The model asks for a tool to be run; `id` is repeated by its result."""

    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(Record, tag_field="type", tag="tool_result", omit_defaults=True):
    """What a tool gave back. `is_error` is None where the agent did not say."""

    tool_use_id: str
    content: str | list[dict[str, Any]] | None = None
    is_error: bool | None = None


class ServerToolUseBlock(Record, tag_field="type", tag="server_tool_use"):
    """The model used a tool that runs at the model's provider: a ServerToolName, or a newer one."""

    id: str
    name: str
    input: dict[str, Any]


class ServerToolResultBlock(Record, tag_field="type", tag="advisor_tool_result"):
    """What a tool at the model's provider gave back."""

    tool_use_id: str
    content: dict[str, Any]


class UnknownBlock(Record):
    """A block of a kind that this library has no class for; `raw` is the block as it came."""

    raw: dict[str, Any]


class RedactedThinkingBlock(Record, tag_field="type", tag="redacted_thinking"):
    """Reasoning that the provider encrypted; only good for being sent back."""

    data: str


class ImageBlock(Record, tag_field="type", tag="image"):
    """A picture; `source` says where its bytes are."""

    source: dict[str, Any]
    cache_control: dict[str, Any] | msgspec.UnsetType | None = msgspec.UNSET


class DocumentBlock(Record, tag_field="type", tag="document"):
    """A document, such as a PDF; `source` says where its bytes are."""

    source: dict[str, Any]
    title: str | msgspec.UnsetType | None = msgspec.UNSET
    context: str | msgspec.UnsetType | None = msgspec.UNSET
    citations: dict[str, Any] | msgspec.UnsetType | None = msgspec.UNSET
    cache_control: dict[str, Any] | msgspec.UnsetType | None = msgspec.UNSET


ContentBlock = (
    TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | ServerToolUseBlock | ServerToolResultBlock
)
"""The blocks that users meet in `AssistantMessage.content` and `UserMessage.content`."""

AnyBlock = ContentBlock | RedactedThinkingBlock | ImageBlock | DocumentBlock
"""Every block with a shape of its own on the wire."""
