"""What plan-mode tools need of a session."""

from __future__ import annotations

from .contract import InputRejected, PlanningState, ToolContext

__all__ = ["planning_of"]


def planning_of(context: ToolContext) -> PlanningState:
    """The plan mode of the session; raises InputRejected where there is none."""
    if context.planning is None:
        raise InputRejected("There is no plan mode in this session.")
    return context.planning
