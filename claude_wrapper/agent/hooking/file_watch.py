"""Files that hooks want to hear about: looked at every now and then, and told of when they change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from claude_wrapper.agent.config.marks import Mark, content_of, mark_of
from claude_wrapper.wire.hook_session_inputs import FileChangedInput

from .events import HookEvents

__all__ = ["FileWatch"]

_MOST_FILES = 5000
_MOST_FOLDERS = 1000
"""Of a folder that is to be watched: it is looked at twice a second."""
_MOST_PATHS = 1000


class FileWatch:
    """Watches the names that matchers give, in the current folder, and the paths that hooks name."""

    def __init__(self, hooks: HookEvents, cwd: Callable[[], Path]) -> None:
        self._hooks = hooks
        self._cwd = cwd
        self._known: dict[str, dict[str, Mark]] = {}

    async def look(self) -> None:
        """Tell of what has changed since the last look; what is new to be watched is only remembered."""
        if not self._hooks.has("FileChanged"):
            self._known = {}
            return
        cwd = self._cwd()
        known, self._known = self._known, {root: _marks(root, cwd) for root in self._roots(cwd)}
        for root, marks in self._known.items():
            if root in known:
                for path, change in _changes(known[root], marks):
                    await self._tell(path, change)

    def _roots(self, cwd: Path) -> Iterable[str]:
        names = (name for matcher in self._hooks.matchers("FileChanged") for name in matcher.split("|"))
        return dict.fromkeys(
            [*(str(cwd / name) for name in names if name), *self._hooks.watch_paths[:_MOST_PATHS]]
        )

    async def _tell(self, path: str, change: str) -> None:
        event = FileChangedInput(**self._hooks.fields.bare(), file_path=path, event=change)
        await self._hooks.occur(event, Path(path).name, told=False)


def _marks(root: str, cwd: Path) -> dict[str, Mark]:
    """The files at a path, and how they are; paths as they were named."""
    place = cwd / root
    if not place.is_dir():
        mark = mark_of(place)
        return {} if mark is None else {root: mark}
    marks: dict[str, Mark] = {}
    for seen, (folder, _, names) in enumerate(os.walk(place)):
        if seen >= _MOST_FOLDERS:
            return marks
        for name in names:
            if len(marks) >= _MOST_FILES:
                return marks
            path = os.path.join(folder, name)  # noqa: PTH118  # thousands of them
            marks[path] = mark_of(path)
    return marks


def _changes(old: dict[str, Mark], new: dict[str, Mark]) -> list[tuple[str, str]]:
    changed = [
        (path, "change" if path in old else "add")
        for path, mark in new.items()
        if path not in old or content_of(old[path]) != content_of(mark)
    ]
    return changed + [(path, "unlink") for path in old if path not in new]
