"""The versions that the agent reports: the protocol's, which hosts compare, and its own."""

from __future__ import annotations

__all__ = ["AGENT_VERSION", "COMPATIBLE_VERSION", "version_line"]

COMPATIBLE_VERSION = "2.1.332"
"""The version of the established agent whose protocol this one speaks; hosts ask for N.N.N."""

AGENT_VERSION = "0.1.0"
"""The version of this agent."""


def version_line() -> str:
    """What `--version` prints."""
    return f"{COMPATIBLE_VERSION} (claude-wrapper {AGENT_VERSION})"
