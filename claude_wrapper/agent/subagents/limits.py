"""How deep and how many: the limits on subagents that the environment may move."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from claude_wrapper.agent.api.switches import is_on

__all__ = ["SpawnLimits", "limits_of"]

_DEPTH = 3
_AT_ONCE = 20
_WAIT_MS = 600_000


class SpawnLimits(msgspec.Struct, frozen=True):
    """They hold for the whole session."""

    depth: int
    at_once: int
    wait_seconds: float
    """How long a run whose input is over waits for those in the background."""
    background: bool
    """Whether any may work in the background."""


def limits_of(environ: Mapping[str, str]) -> SpawnLimits:
    """The limits of a session."""

    def number(name: str, default: int) -> int:
        text = environ.get(name, "")
        return int(text) if text.isascii() and text.isdecimal() else default

    off = is_on(environ, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS")
    return SpawnLimits(
        depth=number("CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH", _DEPTH),
        at_once=number("CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS", _AT_ONCE),
        wait_seconds=number("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", _WAIT_MS) / 1000,
        background=not off,
    )
