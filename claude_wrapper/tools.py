"""In-process tools: functions of this program that the model may call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from .errors import OptionsError
from .mcp_config import McpSdkServerConfig
from .tool_annotations import ToolAnnotations
from .tool_definition import SdkMcpTool
from .tool_server import SdkMcpServer

__all__ = ["SdkMcpTool", "ToolAnnotations", "create_sdk_mcp_server", "tool"]

ToolHandler = Callable[[Any], Awaitable[dict[str, Any]]]


def tool(
    name: str,
    description: str,
    input_schema: type | dict[str, Any],
    annotations: ToolAnnotations | None = None,
) -> Callable[[ToolHandler], SdkMcpTool[Any]]:
    """Make a tool of an async function.

    The function gets the checked arguments as one dict and returns `{"content": [blocks]}`, with
    `"is_error": True` for a failure; what it raises becomes such a failure. `input_schema` is a
    dict of names and types, such as `{"a": int}`, a TypedDict, or a JSON schema.
    """

    def decorate(handler: ToolHandler) -> SdkMcpTool[Any]:
        return SdkMcpTool(name, description, input_schema, handler, annotations)

    return decorate


def create_sdk_mcp_server(
    name: str, version: str = "1.0.0", tools: list[SdkMcpTool[Any]] | None = None
) -> McpSdkServerConfig:
    """Make a server of tools, as an entry of `ClaudeAgentOptions.mcp_servers`.

    The model knows its tools as `mcp__SERVER__TOOL`, after the server's name in `mcp_servers`.
    """
    called: Any = name
    given: Any = tools
    if not isinstance(called, str) or not called:
        raise OptionsError(f"The name of a server must be a text, got {called!r}")
    if given is not None and not isinstance(given, list | tuple):
        raise OptionsError(f"The tools of the server {name!r} must be a list, got a {type(given).__name__}")
    return {"type": "sdk", "name": name, "instance": SdkMcpServer(name, version, list(given or ()))}
