"""The frames that tell a host of the hooks that settings put in force."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from claude_wrapper.wire.ids import new_uuid
from claude_wrapper.wire.system_notes import HookProgressFrame, HookResponseFrame, HookStartedFrame

if TYPE_CHECKING:
    from .command import CommandEnd

__all__ = ["Lifecycle", "Shown"]

_ALWAYS = frozenset({"SessionStart", "Setup"})
_NEVER = frozenset(
    {
        *("Notification", "SessionEnd", "PreCompact", "PostCompact", "StopFailure", "InstructionsLoaded"),
        *("ConfigChange", "CwdChanged", "FileChanged", "DirectoryAdded"),
    }
)


class Shown:
    """One hook as the host sees it."""

    def __init__(self, emit: Callable[[Any], None] | None, session_id: str, event: str, label: str) -> None:
        self._emit = emit
        self._common: dict[str, Any] = {
            "hook_id": new_uuid(),
            "hook_name": label,
            "hook_event": event,
            "session_id": session_id,
        }
        if emit is not None:
            emit(HookStartedFrame(uuid=new_uuid(), **self._common))

    def progress(self, end: CommandEnd) -> None:
        """It has printed something."""
        if self._emit is not None:
            frame = HookProgressFrame(
                stdout=end.stdout, stderr=end.stderr, output=end.output, uuid=new_uuid(), **self._common
            )
            self._emit(frame)

    def over(self, outcome: str, *, stdout: str, stderr: str, output: str, code: int | None) -> None:
        """It has ended: `success`, `error` or `cancelled`."""
        if self._emit is not None:
            frame = HookResponseFrame(
                output=output,
                stdout=stdout,
                stderr=stderr,
                exit_code=UNSET if code is None else code,
                outcome=outcome,
                uuid=new_uuid(),
                **self._common,
            )
            self._emit(frame)


class Lifecycle:
    """Shows hooks, as far as the host wants to see them."""

    def __init__(self, emit: Callable[[Any], None], session_id: Callable[[], str], *, wanted: bool) -> None:
        self._emit = emit
        self._session_id = session_id
        self._wanted = wanted

    def begin(self, event: str, label: str) -> Shown:
        """A hook begins."""
        shown = event in _ALWAYS or (self._wanted and event not in _NEVER)
        return Shown(self._emit if shown else None, self._session_id(), event, label)
