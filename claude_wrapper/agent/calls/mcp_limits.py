"""How long MCP servers are waited for and how much they may say, by the environment."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

__all__ = ["McpLimits", "limits_of"]

_CONNECT_MS = 30_000
_FILES_MS = 2_000
_BLOCKING_MS = 5_000
_CALL_MS = 100_000_000
_OUTPUT_TOKENS = 25_000


class McpLimits(msgspec.Struct, frozen=True):
    """Seconds, but for the last."""

    connect: float = _CONNECT_MS / 1000
    """For a handshake."""
    files: float = _FILES_MS / 1000
    """That the first turn waits for servers that are kept in files."""
    call: float | None = None
    """For a call, where the environment says it; servers of the host are waited for without limit else."""
    output_tokens: int = _OUTPUT_TOKENS

    @property
    def own_call(self) -> float:
        """For a call of a server that the agent itself reaches."""
        return _CALL_MS / 1000 if self.call is None else self.call


def limits_of(environ: Mapping[str, str]) -> McpLimits:
    """What the environment says."""
    blocking = environ.get("MCP_CONNECTION_NONBLOCKING", "").lower() in ("0", "false")
    files = _number(environ, "MCP_CONNECT_TIMEOUT_MS", _BLOCKING_MS) if blocking else _FILES_MS
    call = _number(environ, "MCP_TOOL_TIMEOUT", 0)
    return McpLimits(
        connect=_number(environ, "MCP_TIMEOUT", _CONNECT_MS) / 1000,
        files=files / 1000,
        call=call / 1000 if call else None,
        output_tokens=_number(environ, "MAX_MCP_OUTPUT_TOKENS", _OUTPUT_TOKENS),
    )


def _number(environ: Mapping[str, str], name: str, otherwise: int) -> int:
    text = environ.get(name, "")
    return int(text) if text.isdecimal() and int(text) > 0 else otherwise
