"""How many subagents a session has had, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import field

if TYPE_CHECKING:
    from .errand import Errand

__all__ = ["Stats"]


def _killed() -> dict[str, int]:
    return {"parent": 0, "user": 0, "system": 0}


def _refused() -> dict[str, int]:
    return {"depth_limit": 0, "concurrency_limit": 0, "budget": 0}


class Stats(msgspec.Struct):
    """Counts for the whole session, as results report them."""

    spawned: int = 0
    requested: dict[str, int] = field(default_factory=lambda: {"background": 0, "foreground": 0, "unset": 0})
    started_in_background: int = 0
    max_depth: int = 0
    spawned_by_subagents: int = 0
    completed: int = 0
    failed: int = 0
    killed: dict[str, int] = field(default_factory=_killed)
    refused: dict[str, int] = field(default_factory=_refused)
    by_type: dict[str, int] = field(default_factory=dict)

    def begin(self, errand: Errand, requested: str) -> None:
        """A subagent begins."""
        name = errand.definition.name
        self.spawned += 1
        self.requested[requested] += 1
        self.started_in_background += errand.background
        self.max_depth = max(self.max_depth, errand.depth)
        self.spawned_by_subagents += errand.parent_id is not None
        self.by_type[name] = self.by_type.get(name, 0) + 1

    def told(self) -> dict[str, Any]:
        """The counts as results hold them."""
        counts: dict[str, Any] = msgspec.to_builtins(self)
        return counts
