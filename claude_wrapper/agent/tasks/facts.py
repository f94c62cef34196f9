"""What is known of a task before it begins."""

from __future__ import annotations

import os
import time

import msgspec
from msgspec import UNSET, UnsetType

__all__ = ["COMMAND", "SUBAGENT", "TaskFacts", "command_id", "new_run_id"]

COMMAND = "local_bash"
SUBAGENT = "local_agent"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class TaskFacts(msgspec.Struct, frozen=True):
    """They stay as they are as long as it lasts."""

    id: str
    run_id: str
    kind: str
    description: str
    call_id: str
    """The call that it began with."""
    parent_id: str | None = None
    """The subagent that began it; None where the main conversation did."""
    subagent_type: str | UnsetType = UNSET
    spawn_depth: int | UnsetType = UNSET
    prompt: str | UnsetType = UNSET


def command_id() -> str:
    """A new id for a command."""
    return "b" + "".join(_DIGITS[byte % len(_DIGITS)] for byte in os.urandom(8))


def new_run_id() -> str:
    """A new id for one run of a task: when it began, and chance."""
    moment, text = int(time.time() * 1000), ""
    while moment:
        moment, digit = divmod(moment, 36)
        text = _DIGITS[digit] + text
    return f"0{text}-{os.urandom(4).hex()}"
