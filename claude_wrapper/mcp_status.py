"""What the agent reports about its MCP servers."""

# Annotations are evaluated here: a TypedDict does not see what is marked NotRequired in strings.

import sys
from typing import Literal

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

from .mcp_config import McpHttpServerConfig, McpSSEServerConfig, McpStdioServerConfig

__all__ = [
    "McpClaudeAIProxyServerConfig",
    "McpSdkServerConfigStatus",
    "McpServerConnectionStatus",
    "McpServerInfo",
    "McpServerStatus",
    "McpServerStatusConfig",
    "McpStatusResponse",
    "McpToolAnnotations",
    "McpToolInfo",
]

McpServerConnectionStatus = Literal["connected", "failed", "needs-auth", "pending", "disabled"]


class McpSdkServerConfigStatus(TypedDict):
    """A server inside the host program."""

    type: Literal["sdk"]
    name: str


class McpClaudeAIProxyServerConfig(TypedDict):
    """A server that belongs to the user's account."""

    type: Literal["claudeai-proxy"]
    url: str
    id: str


McpServerStatusConfig = (
    McpStdioServerConfig
    | McpSSEServerConfig
    | McpHttpServerConfig
    | McpSdkServerConfigStatus
    | McpClaudeAIProxyServerConfig
)


class McpToolAnnotations(TypedDict, total=False):
    """What a server says about one of its tools."""

    readOnly: bool
    destructive: bool
    openWorld: bool


class McpToolInfo(TypedDict):
    """A tool of a server."""

    name: str
    description: NotRequired[str]
    annotations: NotRequired[McpToolAnnotations]


class McpServerInfo(TypedDict):
    """How a server names itself."""

    name: str
    version: str


class McpServerStatus(TypedDict):
    """One server: whether it is connected, and what it offers."""

    name: str
    status: McpServerConnectionStatus
    serverInfo: NotRequired[McpServerInfo]
    error: NotRequired[str]
    config: NotRequired[McpServerStatusConfig]
    scope: NotRequired[str]
    tools: NotRequired[list[McpToolInfo]]


class McpStatusResponse(TypedDict):
    """All servers."""

    mcpServers: list[McpServerStatus]
