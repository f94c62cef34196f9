"""One errand of a subagent: who asked for it, and what it is asked."""

from __future__ import annotations

import os
import time

import msgspec
from msgspec import field

from .definition import AgentDefinition

__all__ = ["Errand"]

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _agent_id() -> str:
    return f"a{os.urandom(8).hex()}"


def _run_id() -> str:
    moment, text = int(time.time() * 1000), ""
    while moment:
        moment, digit = divmod(moment, 36)
        text = _DIGITS[digit] + text
    return f"0{text}-{os.urandom(4).hex()}"


class Errand(msgspec.Struct, frozen=True):
    """It is settled before the subagent begins."""

    definition: AgentDefinition
    description: str
    prompt: str
    call_id: str
    depth: int
    parent_id: str | None = None
    """The subagent that asked; None where the main conversation did."""
    background: bool = False
    model: str | None = None
    """The model that the call asks for."""
    id: str = field(default_factory=_agent_id)
    run_id: str = field(default_factory=_run_id)
