"""When files are looked at beside the work: settings, and what hooks want to hear about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from claude_wrapper.agent.hooking.events import HookEvents

if TYPE_CHECKING:
    from claude_wrapper.agent.hooking.file_watch import FileWatch

__all__ = ["FileLooks"]

_SOON = 0.5
_LATER = 3.0
"""Seconds between two looks; an agent that has nothing to do and nobody to tell sleeps."""


class FileLooks:
    """Looks at them."""

    def __init__(
        self,
        hooks: HookEvents,
        refresh: Callable[[], Awaitable[None]],
        cwd: Callable[[], Path],
        busy: Callable[[], bool],
    ) -> None:
        self._hooks = hooks
        self._refresh = refresh
        self._cwd = cwd
        self._busy = busy
        self._files: FileWatch | None = None

    async def look(self) -> float:
        """Look once; gives the seconds to the next time."""
        wanted = self._hooks.has("FileChanged")
        if wanted and self._files is None:
            # Hardly any session has such hooks.
            from claude_wrapper.agent.hooking.file_watch import FileWatch  # noqa: PLC0415

            self._files = FileWatch(self._hooks, self._cwd)
        if self._files is not None:
            await self._files.look()
        told = wanted or self._hooks.has("ConfigChange")
        if told or self._busy():
            await self._refresh()
            return _SOON
        return _LATER
