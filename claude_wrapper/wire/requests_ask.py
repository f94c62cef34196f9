"""Control requests by which the host asks about the session, and those about MCP servers."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, field

from .records import Flag, Object, Text
from .requests_steer import Request

__all__ = [
    "FileSuggestions",
    "GetBinaryVersion",
    "GetContextUsage",
    "GetHooksListing",
    "GetSessionCost",
    "GetSettings",
    "GetTaskOutput",
    "GetUsage",
    "ListModels",
    "ListPermissionRules",
    "McpCall",
    "McpReadResource",
    "McpReconnect",
    "McpSetServers",
    "McpStatus",
    "McpToggle",
    "ReadFile",
]


class McpStatus(Request, tag="mcp_status"):
    """Asks for the state of every MCP server."""

    live_reply: Flag = field(name="liveReply", default=UNSET)


class McpReconnect(Request, tag="mcp_reconnect"):
    """Connects to an MCP server again."""

    server_name: str = field(name="serverName")


class McpToggle(Request, tag="mcp_toggle"):
    """Switches an MCP server on or off."""

    server_name: str = field(name="serverName")
    enabled: bool


class McpSetServers(Request, tag="mcp_set_servers"):
    """Replaces the MCP servers that were added in this way."""

    servers: dict[str, Object]


class McpCall(Request, tag="mcp_call"):
    """Calls a tool of an MCP server without the model."""

    tool: str
    arguments: Object | UnsetType | None = UNSET


class McpReadResource(Request, tag="mcp_read_resource"):
    """Reads a resource of an MCP server."""

    server_name: str = field(name="serverName")
    uri: str


class GetContextUsage(Request, tag="get_context_usage"):
    """Asks what fills the context window."""

    detail: Text = UNSET


class GetTaskOutput(Request, tag="get_task_output"):
    """Asks what a task has written."""

    task_id: str


class ReadFile(Request, tag="read_file"):
    """Asks for a file's content, as far as the permissions let it be read."""

    path: str
    max_bytes: int | UnsetType | None = UNSET
    encoding: Text = UNSET


class FileSuggestions(Request, tag="file_suggestions"):
    """Asks for files whose names fit."""

    query: str


class GetSettings(Request, tag="get_settings"):
    """Asks for the settings in force and where they come from."""


class ListModels(Request, tag="list_models"):
    """Asks for the models to choose from."""


class GetUsage(Request, tag="get_usage"):
    """Asks what the session and the subscription have used."""

    skip_behaviors: Flag = UNSET


class GetSessionCost(Request, tag="get_session_cost"):
    """Asks for the session's cost in words."""


class GetBinaryVersion(Request, tag="get_binary_version"):
    """Asks for the agent's version."""


class ListPermissionRules(Request, tag="list_permission_rules"):
    """Asks for the permission rules in force."""


class GetHooksListing(Request, tag="get_hooks_listing"):
    """Asks for the hooks in force."""
