"""Which type of subagent a call means."""

from __future__ import annotations

from claude_wrapper.agent.tools.contract import ToolFailure

from .definition import GENERAL, AgentDefinition
from .roster import Roster

__all__ = ["chosen"]


def chosen(roster: Roster, types: frozenset[str] | None, name: str | None) -> AgentDefinition:
    """The definition; raises ToolFailure if there is none that this caller may start."""
    wanted = name or GENERAL
    found = roster.find(wanted)
    if found is not None and (types is None or wanted in types):
        return found
    names = [each for each in roster.names if types is None or each in types]
    available = f"Available agents: {', '.join(names) or 'none'}"
    if not name:
        raise ToolFailure(
            f"subagent_type is required: the {GENERAL} agent is not available in this session. {available}"
        )
    raise ToolFailure(f"Agent type '{name}' not found. {available}")
