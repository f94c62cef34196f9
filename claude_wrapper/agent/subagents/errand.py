"""One errand of a subagent: who asked for it, and what it is asked."""

from __future__ import annotations

import os

import msgspec
from msgspec import field

from claude_wrapper.agent.tasks.facts import SUBAGENT, TaskFacts, new_run_id

from .definition import AgentDefinition

__all__ = ["Errand"]


def _agent_id() -> str:
    return f"a{os.urandom(8).hex()}"


class Errand(msgspec.Struct):
    """It is settled before the subagent begins, but for `background`."""

    definition: AgentDefinition
    description: str
    prompt: str
    call_id: str
    depth: int
    parent_id: str | None = None
    """The subagent that asked; None where the main conversation did."""
    background: bool = False
    """No turn waits for it."""
    model: str | None = None
    """The model that the call asks for."""
    checks: bool = False
    """It is a hook's, about a step of its caller: nobody is told of it, and nobody asked."""
    id: str = field(default_factory=_agent_id)
    run_id: str = field(default_factory=new_run_id)

    @property
    def facts(self) -> TaskFacts:
        """What the host is told of it."""
        return TaskFacts(
            self.id,
            self.run_id,
            SUBAGENT,
            self.description,
            self.call_id,
            parent_id=self.parent_id,
            subagent_type=self.definition.name,
            spawn_depth=self.depth,
            prompt=self.prompt,
        )
