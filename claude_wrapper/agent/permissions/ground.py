"""What paths mean during one decision: names of files, folders that count as the user's own."""

from __future__ import annotations

import os
from functools import cached_property

from . import paths
from .call import Call
from .policy import Policy


class Ground:
    """Resolves paths for one call, each at most once, with the file system as it is now."""

    def __init__(self, call: Call, policy: Policy) -> None:
        self.call = call
        self.policy = policy
        self.cwd = paths.complete(call.cwd)
        self.home = policy.home
        self._names: dict[tuple[str, str], tuple[str, ...]] = {}

    @cached_property
    def within(self) -> tuple[str, ...]:
        """The folders in which the agent works, under all their names."""
        added = (folder.path for folder in self.policy.directories)
        every = (self.policy.original_cwd, *(os.fspath(folder) for folder in self.call.working_dirs), *added)
        return tuple(dict.fromkeys(name for folder in every for name in self.names_of(folder)))

    def names_of(self, path: str, cwd: str | None = None) -> tuple[str, ...]:
        """Every name of the file: as written, and where symlinks lead."""
        base = self.cwd if cwd is None else cwd
        known = self._names.get((path, base))
        if known is None:
            known = self._names[path, base] = paths.places(path, base, self.home)
        return known

    def removed_names(self, path: str) -> tuple[str, ...]:
        """The names of what a removal changes: of the folder if the file is a link, which alone goes away."""
        link = paths.link_at(path, self.cwd, self.home)
        return self.names_of(path if link is None else paths.parent(link))

    def is_link(self, path: str) -> bool:
        """Whether the file itself is a symlink, not only a folder above it."""
        return paths.link_at(path, self.cwd, self.home) is not None

    def is_within(self, names: tuple[str, ...]) -> bool:
        """Whether the file lies in a working folder under each of its names."""
        return paths.all_inside(names, self.within)

    def leads_out(self, names: tuple[str, ...]) -> str | None:
        """The first name of the file that lies outside the working folders."""
        return next((name for name in names if not paths.all_inside((name,), self.within)), None)

    def shown(self, path: str) -> str:
        """The path as a person reads it best."""
        return paths.shown(path, self.cwd, self.home)
