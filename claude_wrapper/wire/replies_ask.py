"""The agent's answers to questions about the session, and to those about MCP servers."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType, field

from .records import Flag, Object, OptionalText, Part, Text

__all__ = [
    "BinaryVersionReply",
    "ContextCategory",
    "ContextUsageReply",
    "FileSuggestionsReply",
    "HooksListingReply",
    "McpCallReply",
    "McpReadResourceReply",
    "McpServerStatusBody",
    "McpSetServersReply",
    "McpStatusReply",
    "McpToolBody",
    "ModelsReply",
    "PermissionRulesReply",
    "ReadFileReply",
    "SessionCostReply",
    "SettingsReply",
    "TaskOutputReply",
    "UsageReply",
]


class McpToolBody(Part):
    """A tool of an MCP server."""

    name: str
    description: Text = UNSET
    annotations: Object | UnsetType = UNSET


class McpServerStatusBody(Part, rename="camel"):
    """The state of an MCP server: connected, failed, needs-auth, pending or disabled."""

    name: str
    status: str
    server_info: Object | UnsetType = UNSET
    error: Text = UNSET
    config: Object | UnsetType = UNSET
    transport: Text = UNSET
    scope: Text = UNSET
    source: Text = UNSET
    tools: list[McpToolBody] | UnsetType = UNSET


class McpStatusReply(Part, rename="camel"):
    """The state of every MCP server."""

    mcp_servers: list[McpServerStatusBody]


class McpSetServersReply(Part):
    """What became of the servers; `errors` by name."""

    added: list[str]
    removed: list[str]
    errors: dict[str, str]


class McpCallReply(Part, rename="camel"):
    """What a tool gave back."""

    content: list[Any] | str
    structured_content: Any = UNSET
    is_error: Flag = UNSET


class McpReadResourceReply(Part):
    """A resource's content."""

    contents: list[Any]


class ContextCategory(Part, rename="camel"):
    """One kind of content of the context window."""

    name: str
    tokens: int
    color: Text = UNSET
    id: Text = UNSET
    kind: Text = UNSET
    is_deferred: Flag = UNSET


class ContextUsageReply(Part, rename="camel"):
    """What fills the context window. The parts that only a screen needs are open."""

    categories: list[ContextCategory]
    total_tokens: int
    max_tokens: int
    raw_max_tokens: int
    percentage: int | float
    model: str
    is_auto_compact_enabled: bool
    auto_compact_threshold: int | UnsetType | None = UNSET
    autocompact_source: Text = UNSET
    memory_files: list[Object] | UnsetType = UNSET
    mcp_tools: list[Object] | UnsetType = UNSET
    mcp_instructions: Any = UNSET
    agents: list[Object] | UnsetType = UNSET
    grid_rows: list[Any] | UnsetType = UNSET
    deferred_builtin_tools: Any = UNSET
    system_tools: Any = UNSET
    system_prompt_sections: Any = UNSET
    slash_commands: Any = UNSET
    skills: Any = UNSET
    message_breakdown: Any = UNSET
    api_usage: Any = UNSET


class TaskOutputReply(Part):
    """What a task has written."""

    output: str
    total_bytes: int
    truncated: bool


class ReadFileReply(Part):
    """A file's content."""

    contents: str
    abs_path: str = field(name="absPath")
    requested_path: Text = UNSET
    lossy: Flag = UNSET
    truncated: Flag = UNSET
    encoding: Text = UNSET


class FileSuggestionsReply(Part):
    """Files whose names fit."""

    suggestions: list[Any]
    cwd: Text = UNSET


class SettingsReply(Part):
    """The settings in force, where they come from, and what follows from them."""

    effective: Object
    sources: list[Any]
    applied: Object | UnsetType = UNSET
    served_settings_state: Text = UNSET


class ModelsReply(Part):
    """The models to choose from."""

    models: list[Any]


class UsageReply(Part):
    """What the session and the subscription have used."""

    session: Object
    subscription_type: OptionalText = UNSET
    rate_limits_available: Flag = UNSET
    rate_limits: Any = UNSET
    behaviors: Any = UNSET


class SessionCostReply(Part):
    """The session's cost in words."""

    text: str


class BinaryVersionReply(Part, rename="camel"):
    """The agent's version."""

    version: str
    build_time: OptionalText = UNSET
    oldest_desktop_sdk: OptionalText = UNSET


class PermissionRulesReply(Part):
    """The permission rules in force."""

    state: Object


class HooksListingReply(Part, rename="camel"):
    """The hooks in force."""

    events: list[Any]
    hooks: list[Any]
    event_catalog: list[Any] | UnsetType = UNSET
    policy: Object | UnsetType = UNSET
