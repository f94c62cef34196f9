"""Who may start subagents: the main conversation, or a subagent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from claude_wrapper.agent.turns.parts import Parts

    from .report import Deeds

__all__ = ["Caller"]


class Caller(msgspec.Struct):
    """One of them."""

    parts: Parts
    depth: int = 0
    agent_id: str | None = None
    deeds: Deeds | None = None
    """What it has done, if it is a subagent."""
    types: frozenset[str] | None = None
    """The types that it may start; None for all."""
