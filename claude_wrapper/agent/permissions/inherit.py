"""The mode of a subagent, by the mode of the session and what its definition wants."""

from __future__ import annotations

from typing import get_args

from claude_wrapper.wire.permissions import PermissionMode

__all__ = ["mode_of_subagent"]

_FORCED = frozenset({"acceptEdits", "auto", "bypassPermissions"})
"""Modes that hold for everything below them."""
_MODES: tuple[PermissionMode, ...] = get_args(PermissionMode)


def mode_of_subagent(
    session: PermissionMode, wanted: str | None, *, bypass_available: bool
) -> PermissionMode:
    """A definition may choose its mode, unless the session's mode settles what is asked about.

    What the session itself could not enter, a subagent of it cannot either.
    """
    chosen = next((mode for mode in _MODES if mode == wanted), None)
    if session in _FORCED or chosen is None:
        return session
    if chosen == "bypassPermissions" and not bypass_available:
        return session
    return chosen
