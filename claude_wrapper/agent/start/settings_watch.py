"""The settings files of a run while it runs: noticing that one has changed, and reading it again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from claude_wrapper.agent.config.file import SettingsFile, checked
from claude_wrapper.agent.config.marks import Mark, content_of, mark_of
from claude_wrapper.agent.config.places import SettingsPlaces, managed_folder
from claude_wrapper.agent.config.reading import read_settings
from claude_wrapper.agent.config.sources import SettingsError, managed_paths, managed_settings
from claude_wrapper.agent.config.trust import without_untrusted_grants
from claude_wrapper.agent.permissions.policy import Policy
from claude_wrapper.agent.permissions.rules import Source
from claude_wrapper.store.paths import config_dir

from .cli import Arguments
from .load_files import chosen_sources, project_of, with_variables
from .load_policy import with_sources

__all__ = ["SettingsChange", "SettingsWatch"]

_GRACE = 1.0
"""Seconds for which a file has to be missing or broken before that counts: somebody may just be writing it."""
_KEPT = "; the settings that were read before stay in force"
_ORDER: tuple[Source, ...] = ("userSettings", "projectSettings", "localSettings", "flagSettings")


class SettingsChange(msgspec.Struct, frozen=True):
    """A source that says something else now."""

    source: Source
    path: Path
    mark: tuple[Mark, ...]
    files: tuple[SettingsFile, ...] = ()
    told: tuple[str, ...] = ()
    """For the user: what is not heeded, or why nothing changes."""
    usable: bool = True
    """Without this the old settings stay."""
    known: bool = False
    """The agent itself has written it, and nobody since: that is no news."""


class _Watched:
    """One source."""

    def __init__(
        self,
        source: Source,
        path: Path,
        paths: Callable[[], Sequence[Path]],
        project: Path,
        root: Path | None,
        *,
        heeded: bool = True,
    ) -> None:
        self._heeded = heeded
        self.source = source
        self.path = path
        self.ours = False
        """The agent itself has written it last; what it wrote is in force."""
        self.being_written = False
        self._paths = paths
        self._project = project
        self._root = root
        self._seen = self.mark()
        self._doubtful: tuple[tuple[Mark, ...], float] | None = None

    def mark(self) -> tuple[Mark, ...]:
        return tuple(map(mark_of, self._paths()))

    def stale(self, now: float) -> bool:
        """Whether it is to be read again."""
        mark = self.mark()
        if mark == self._seen or self.being_written:
            self._doubtful = None
            return False
        return self._doubtful is None or self._doubtful[0] != mark or now - self._doubtful[1] >= _GRACE

    def changed(self) -> bool:
        """Whether it has been written since it was read."""
        return list(map(content_of, self.mark())) != list(map(content_of, self._seen))

    def change(self, environ: Mapping[str, str], managed: str | None, now: float) -> SettingsChange | None:
        """What it says now; None if that is as before, or not yet to be relied upon."""
        mark = self.mark()
        if not self.ours and not self.changed():
            self._seen = mark
            return None
        if not self._heeded:
            return SettingsChange(self.source, self.path, mark, usable=False)
        change = self._managed(mark, managed) if self.source == "policySettings" else self._own(mark, environ)
        if mark != (None,) and change.usable:
            return change
        if self._doubtful is not None and self._doubtful[0] == mark:
            return change if now - self._doubtful[1] >= _GRACE else None
        self._doubtful = (mark, now)
        return None

    def settled(self, mark: tuple[Mark, ...]) -> None:
        """The change was dealt with."""
        self._seen = mark
        self._doubtful = None
        self.ours = False

    def _own(self, mark: tuple[Mark, ...], environ: Mapping[str, str]) -> SettingsChange:
        reading = read_settings(self.path)
        file, faults = checked(self.source, reading, self._root, self.path)
        blank = reading.values is not None and not reading.text.strip()
        told = [f"{fault}{_KEPT}" for fault in faults] + (
            [f"{self.path}: it is empty{_KEPT}"] if blank else []
        )
        files = [] if file is None else [file]
        if not told:
            known = self.ours and not self.changed()
            files, told = without_untrusted_grants(files, environ, self._project)
            return SettingsChange(self.source, self.path, mark, tuple(files), tuple(told), known=known)
        return SettingsChange(self.source, self.path, mark, told=tuple(told), usable=False)

    def _managed(self, mark: tuple[Mark, ...], given: str | None) -> SettingsChange:
        try:
            files, faults = managed_settings(self.path.parent, given)
        except SettingsError as error:
            return SettingsChange(self.source, self.path, mark, told=(f"{error}{_KEPT}",), usable=False)
        return SettingsChange(self.source, self.path, mark, tuple(files), tuple(map(str, faults)))


class SettingsWatch:
    """Watches the files of the user, the project and the administrator.

    Those that the command line does not let the run read are not read again either; that they have changed is told.
    Settings that are given by the command line are not read again.
    """

    def __init__(
        self,
        arguments: Arguments,
        environ: Mapping[str, str],
        cwd: Path,
        files: Sequence[SettingsFile],
        *,
        managed: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._arguments = arguments
        self._environ = environ
        self._cwd = cwd
        self._clock = clock
        self.files = tuple(files)
        """The settings in force, lowest precedence first."""
        project = project_of(arguments, cwd)
        places = SettingsPlaces(environ, project)
        self._watched: dict[Source, _Watched] = {}
        chosen = chosen_sources(arguments)
        for source in ("userSettings", "projectSettings", "localSettings"):
            path = places.path(source)
            assert path is not None
            root = config_dir(environ) if source == "userSettings" else project
            self._watched[source] = _Watched(
                source,
                path,
                lambda path=path: (path,),  # type: ignore[misc]
                project,
                root,
                heeded=source in chosen,
            )
        folder = managed_folder() if managed is None else managed
        first = folder / "managed-settings.json"
        self._watched["policySettings"] = _Watched(
            "policySettings", first, lambda: managed_paths(folder), project, None
        )

    def stale(self) -> bool:
        """Whether a file is to be read again. A matter of a few looks at files."""
        now = self._clock()
        return any(each.stale(now) for each in self._watched.values())

    def changes(self) -> list[SettingsChange]:
        """What has changed, as it is now. Until a change is settled it comes again."""
        now = self._clock()
        given = self._arguments.value("managed_settings")
        stale = [each for each in self._watched.values() if each.stale(now)]
        if stale:
            stale = [each for each in self._watched.values() if each.ours and each not in stale] + stale
        found = [each.change(self._environ, given, now) for each in stale]
        return [change for change in found if change is not None]

    def settle(self, change: SettingsChange, *, taken: bool) -> None:
        """A change is dealt with; if it is taken, it is in force."""
        self._watched[change.source].settled(change.mark)
        if not taken:
            return
        others = [each for each in self.files if each.source != change.source]
        if change.source == "policySettings":
            self.files = (*others, *change.files)
            return
        rank = _ORDER.index(change.source)
        below = [each for each in others if each.source in _ORDER[:rank]]
        self.files = (*below, *change.files, *others[len(below) :])

    @contextmanager
    def writing(self, path: Path) -> Iterator[None]:
        """While the agent itself writes a file: what it writes is in force already, and no news to anybody."""
        watched = next((each for each in self._watched.values() if each.path == path), None)
        as_known = watched is not None and not watched.changed()
        if watched is not None:
            watched.being_written = True
        try:
            yield
        finally:
            if watched is not None:
                watched.being_written = False
        if watched is not None and as_known:
            watched.settled(watched.mark())
            watched.ours = True

    def environment(self) -> dict[str, str]:
        """The environment with what the settings put into it now."""
        return with_variables(self._environ, list(self.files))

    def policy(self, policy: Policy) -> tuple[Policy, list[str]]:
        """A policy with what the settings say of permissions now, and what of that has no effect."""
        fresh, told = with_sources(policy, self._arguments, list(self.files))
        return fresh, [*told.rules, *told.unknown]
