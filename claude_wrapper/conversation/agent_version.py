"""Tells from its answer to the handshake whether an agent is older or newer than this library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from claude_wrapper import __version__

__all__ = ["PROTOCOL", "agent_version", "mismatch"]

PROTOCOL = (2, 1)
"""Major and minor version of the established agent whose protocol this library speaks (November 2026)."""

_OWN = "agent:claude-wrapper/"
_REMEDY = "Install both from one wheel, or name another agent by cli_path or CLAUDE_WRAPPER_AGENT"


def agent_version(info: Mapping[str, Any]) -> str | None:
    """Return the version of this project's agent; None for the agent of somebody else."""
    told = info.get("capabilities")
    for capability in told if isinstance(told, list) else ():
        if isinstance(capability, str) and capability.startswith(_OWN):
            return capability.removeprefix(_OWN)
    return None


def mismatch(info: Mapping[str, Any], library: str = __version__) -> str | None:
    """Return a sentence about an agent that was not made for this library; None where both fit."""
    own = agent_version(info)
    if own is not None:
        if own == library:
            return None
        age = _age(_numbers(own), _numbers(library))
        return f"The agent is claude-wrapper {own}, {age} than this library, which is {library}. {_REMEDY}"
    spoken = info.get("claude_code_version")
    found = _numbers(spoken) if isinstance(spoken, str) else ()
    if not found or found[:2] == PROTOCOL:
        return None
    known = ".".join(map(str, PROTOCOL))
    return (
        f"The agent says that its version is {spoken}, {_age(found[:2], PROTOCOL)} than {known}, for which this library "
        "was made. What one of them does not know is left out or refused"
    )


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d{1,9}(?:\.\d{1,9})*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _age(agent: tuple[int, ...], ours: tuple[int, ...]) -> str:
    if agent == ours:
        return "another build"
    return "older" if agent < ours else "newer"
