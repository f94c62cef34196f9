"""What the host configures: agents, MCP servers, plugins, as they stand on the wire and in files."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType, field

from claude_wrapper.errors import OptionsError

from .records import Flag, Number, Object, OptionalText, Part, Text

__all__ = [
    "AgentDefinitionBody",
    "McpConfig",
    "McpHttpConfig",
    "McpSdkConfig",
    "McpSseConfig",
    "McpStdioConfig",
    "McpWsConfig",
    "PluginConfigBody",
    "SdkServerConfigBody",
    "SdkServerManifestBody",
    "SdkToolConfigBody",
    "read_mcp_config",
]


class AgentDefinitionBody(Part, rename="camel"):
    """An agent that the model may start: what it is for, its prompt, and what it may use."""

    description: str
    prompt: str
    tools: list[str] | UnsetType | None = UNSET
    disallowed_tools: list[str] | UnsetType | None = UNSET
    model: OptionalText = UNSET
    skills: list[str] | UnsetType | None = UNSET
    memory: OptionalText = UNSET
    mcp_servers: list[str | Object] | UnsetType | None = UNSET
    """Names of servers that the session has, or configurations by name."""
    initial_prompt: OptionalText = UNSET
    max_turns: int | UnsetType | None = UNSET
    background: bool | UnsetType | None = UNSET
    effort: str | int | UnsetType | None = UNSET
    permission_mode: OptionalText = UNSET
    auto_compact_window: int | UnsetType | None = UNSET
    omit_claude_md: bool | UnsetType | None = UNSET
    hooks: Any = UNSET
    """As settings have them; they run while the agent is at work."""
    observer: Any = UNSET
    observer_message: OptionalText = UNSET
    critical_system_reminder: OptionalText = field(name="criticalSystemReminder_EXPERIMENTAL", default=UNSET)


class McpStdioConfig(Part, tag_field="type", tag="stdio", rename="camel"):
    """An MCP server that the agent starts as a process."""

    command: str
    args: list[str] | UnsetType = UNSET
    env: dict[str, str] | UnsetType = UNSET
    cwd: Text = UNSET
    timeout: Number = UNSET
    """Milliseconds for one tool call."""
    always_load: Flag = UNSET


class McpHttpConfig(Part, tag_field="type", tag="http", rename="camel"):
    """An MCP server behind an address."""

    url: str
    headers: dict[str, str] | UnsetType = UNSET
    headers_helper: Text = UNSET
    oauth: Any = UNSET
    timeout: Number = UNSET
    always_load: Flag = UNSET


class McpSseConfig(McpHttpConfig, tag="sse"):
    """An MCP server behind an address, by the older transport."""


class McpWsConfig(McpHttpConfig, tag="ws"):
    """An MCP server behind a WebSocket address."""


class McpSdkConfig(Part, tag_field="type", tag="sdk", rename="camel"):
    """An MCP server that runs in the host and is reached over the control channel."""

    name: str
    timeout: Number = UNSET
    always_load: Flag = UNSET


McpConfig = McpStdioConfig | McpHttpConfig | McpSseConfig | McpWsConfig | McpSdkConfig

_ALIASES = {None: "stdio", "streamable-http": "http", "streamableHttp": "http"}


def read_mcp_config(raw: Object) -> McpConfig:
    """Read a server's configuration as people write it; raises OptionsError.

    A process may come without its `type`, and the transport over HTTP has another name in files.
    """
    kind = raw.get("type")
    try:
        config: McpConfig = msgspec.convert({**raw, "type": _ALIASES.get(kind, kind)}, McpConfig)
    except (msgspec.ValidationError, TypeError) as error:
        raise OptionsError(f"Not a configuration of an MCP server: {error}") from error
    return config


class SdkToolConfigBody(Part):
    """What the host lays down for one tool of its servers."""

    name: str
    permission_policy: Text = UNSET
    org_max_permission: Text = UNSET


class SdkServerConfigBody(Part):
    """What the host lays down for one of its servers."""

    timeout: Number = UNSET
    tools: list[SdkToolConfigBody] | UnsetType = UNSET


class SdkServerManifestBody(Part, rename="camel"):
    """Results of a server that the host has already, so that the agent need not ask for them."""

    initialize_result: Object
    tools_list_result: Object | UnsetType | None = UNSET


class PluginConfigBody(Part, rename="camel"):
    """A plugin in a folder."""

    path: str
    type: Literal["local"] = "local"
    skip_mcp_discovery: Flag = UNSET
