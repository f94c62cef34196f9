"""What the lines of a transcript are: conversation entries, which form a chain, and notes beside it."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType, field

from claude_wrapper.wire.records import Part

__all__ = [
    "CHAIN_TYPES",
    "AssistantEntry",
    "AttachmentEntry",
    "ChainEntry",
    "CompactionNote",
    "CostStateEntry",
    "Entry",
    "LastPromptEntry",
    "ReplyEndEntry",
    "StoredEntry",
    "SystemEntry",
    "TitleEntry",
    "UserEntry",
]

CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system", "progress"})
"""The types of conversation entries. Others may have a uuid too, but are no part of the chain."""

Text = str | UnsetType
Flag = bool | UnsetType


class Entry(Part, kw_only=True, rename="camel", tag_field="type"):
    """One line of a transcript."""

    session_id: str


class ChainEntry(Entry, kw_only=True):
    """An entry of the conversation; `parent_uuid` is the one before it, null at the root."""

    uuid: str
    parent_uuid: str | None
    is_sidechain: bool
    timestamp: str
    cwd: str
    version: str
    git_branch: str
    user_type: str
    entrypoint: str
    agent_id: Text = UNSET


class UserEntry(ChainEntry, kw_only=True, tag="user"):
    """A prompt, a tool's result or a note, in the user's role."""

    message: dict[str, Any]
    prompt_id: Text = UNSET
    permission_mode: Text = UNSET
    tool_use_result: Any = UNSET
    source_tool_assistant_uuid: Text = field(default=UNSET, name="sourceToolAssistantUUID")
    permission_decision: dict[str, Any] | UnsetType = UNSET
    is_meta: Flag = UNSET
    is_compact_summary: Flag = UNSET
    is_visible_in_transcript_only: Flag = UNSET


class AssistantEntry(ChainEntry, kw_only=True, tag="assistant"):
    """One block of a reply of the model; entries of one reply share the message id."""

    message: dict[str, Any]
    api_block_index: int | UnsetType = UNSET
    requested_model: Text = UNSET
    is_api_error_message: Flag = UNSET
    error: Text = UNSET


class SystemEntry(ChainEntry, kw_only=True, tag="system"):
    """An event of the session itself, such as the border of a compaction."""

    subtype: str
    content: Text = UNSET
    level: Text = UNSET
    logical_parent_uuid: str | UnsetType | None = UNSET
    compact_metadata: dict[str, Any] | UnsetType = UNSET


class AttachmentEntry(ChainEntry, kw_only=True, tag="attachment"):
    """Something that happened on the way; what, is told by the attachment's own `type`."""

    attachment: dict[str, Any]


class LastPromptEntry(Entry, kw_only=True, tag="last-prompt"):
    """The newest prompt and the newest entry of the chain."""

    last_prompt: str
    leaf_uuid: str


class TitleEntry(Entry, kw_only=True, tag="custom-title"):
    """The title that the user gave the session."""

    custom_title: str


class CostStateEntry(Entry, kw_only=True, tag="cost-state"):
    """The running totals, which a resumed session carries on."""

    total_cost_usd: float = field(name="totalCostUSD")
    total_api_duration: float = field(name="totalAPIDuration")
    total_duration: float
    start_time: int
    """When the session would have begun, had it run without a break; milliseconds since 1970."""
    model_usage: dict[str, dict[str, Any]]
    total_api_duration_without_retries: float = field(name="totalAPIDurationWithoutRetries")
    total_tool_duration: float = 0
    total_lines_added: int = 0
    total_lines_removed: int = 0
    """The counts that we do not keep are written too: Claude Code carries on no totals that lack one of them."""


class ReplyEndEntry(Entry, kw_only=True, tag="reply-end"):
    """How a reply ended. Its blocks were written before that was known."""

    message_id: str
    stop_reason: str | None
    usage: dict[str, Any]


class KeptMessages(Part, kw_only=True, rename="camel"):
    """The messages that a compaction kept word for word; they follow the entry `anchor_uuid`."""

    anchor_uuid: str = ""
    uuids: list[str] = field(default_factory=list)


class KeptSegment(Part, kw_only=True, rename="camel"):
    """The same as the ends of a chain."""

    anchor_uuid: str = ""
    head_uuid: str = ""
    tail_uuid: str = ""


class CompactionNote(Part, kw_only=True, rename="camel"):
    """What the border of a compaction says about it, as far as readers need it."""

    preserved_messages: KeptMessages | None = None
    preserved_segment: KeptSegment | None = None
    cumulative_dropped_tokens: int | None = None


class StoredEntry(Part, kw_only=True, rename="camel"):
    """Any line, as far as a reader of conversations needs it; everything may be missing."""

    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    is_sidechain: bool = False
    message: dict[str, Any] | None = None
    source_tool_assistant_uuid: str | None = field(default=None, name="sourceToolAssistantUUID")
    is_api_error_message: bool = False
    subtype: str | None = None
    logical_parent_uuid: str | None = None
    permission_mode: str | None = None
    custom_title: str | None = None
    total_cost_usd: float | None = field(default=None, name="totalCostUSD")
    total_api_duration: float | None = field(default=None, name="totalAPIDuration")
    model_usage: dict[str, dict[str, Any]] | None = None
    message_id: str | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None
    prompt_id: str | None = None
    requested_model: str | None = None
    is_meta: bool = False
    attachment: dict[str, Any] | None = None
    compact_metadata: CompactionNote | None = None
