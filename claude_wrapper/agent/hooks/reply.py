"""What asking one hook came to."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from claude_wrapper.wire.hook_outputs import HookOutput

from .hook import Hook

__all__ = ["Failure", "HookReply", "Occasion"]

Failure = Literal["timeout", "gone", "misplaced", "error", "unusable", "nonzero"]
"""`gone`, `misplaced` and `error` are the host's; `unusable`: settings name a hook that cannot be run, or its
answer cannot be used; `nonzero`: it failed by itself."""

_PLAIN = frozenset({"SubagentStop", "UserPromptExpansion"})
"""Events that are called by their names alone, though they have a subject."""


class Occasion(msgspec.Struct, frozen=True):
    """One event as it is put to hooks."""

    event: str
    subject: str | None
    """What matchers are compared with."""
    input: Any
    id: str
    """The call's id, or one made for the event."""
    tool_input: dict[str, Any] | None = None

    @property
    def label(self) -> str:
        """How hosts call the hooks of this occasion."""
        return self.event if self.subject is None or self.event in _PLAIN else f"{self.event}:{self.subject}"


class HookReply(msgspec.Struct, frozen=True):
    """What one hook answered, or how it failed."""

    hook: Hook
    output: HookOutput | None = None
    failure: Failure | None = None
    block: str | None = None
    """What speaks against going on, with the name of the hook."""
    reason: str | None = None
    """The same without it."""
    text: str | None = None
    """What it printed, if that is no JSON."""
