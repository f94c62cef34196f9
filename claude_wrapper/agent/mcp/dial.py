"""How a server of a configuration is reached: by a program, or behind a URL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from .channel import Channel, Listener, McpChannelError

__all__ = ["Dialling", "dial", "shown_config"]

_SHOWN = {"stdio": ("command", "args"), "http": ("url", "headers"), "sse": ("url", "headers")}
"""What hosts see of a configuration; the variables of a program may be secret."""


class Dialling(msgspec.Struct, frozen=True):
    """What servers find around them."""

    cwd: Path
    environment: dict[str, str]
    helpers: bool = True
    """Commands that print headers may run."""


def dial(name: str, config: Mapping[str, Any], around: Dialling, listener: Listener) -> Channel:
    """The way to a server; raises McpChannelError for one that leads nowhere. Nothing is begun yet."""
    kind = config.get("type", "stdio")
    if kind == "stdio":
        from .stdio_channel import StdioChannel  # noqa: PLC0415  # each way only where it is gone

        argv = [config["command"], *config.get("args", [])]
        return StdioChannel(argv, around.cwd, {**around.environment, **config.get("env", {})}, listener)
    if kind not in ("http", "sse"):
        raise McpChannelError(f"servers of the type {kind} are not reached by this agent")
    from .headers import Headers  # noqa: PLC0415  # as above

    url = config["url"]
    environment = {
        **around.environment,
        "CLAUDE_CODE_MCP_SERVER_NAME": name,
        "CLAUDE_CODE_MCP_SERVER_URL": url,
    }
    helper = config.get("headersHelper") if around.helpers else None
    headers = Headers(
        config.get("headers", {}), helper if isinstance(helper, str) else None, around.cwd, environment
    )
    if kind == "sse":
        from .sse_channel import SseChannel  # noqa: PLC0415  # as above

        return SseChannel(url, headers, listener)
    from .http_channel import HttpChannel  # noqa: PLC0415  # as above

    return HttpChannel(url, headers, listener)


def shown_config(kind: str, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """What hosts see of a configuration."""
    if kind not in _SHOWN:
        return None
    shown = {"type": kind, **{name: config[name] for name in _SHOWN[kind] if name in config}}
    return {**shown, "args": shown.get("args", [])} if kind == "stdio" else shown
