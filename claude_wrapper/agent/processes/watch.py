"""Sees to it that what the agent has started ends with it, even if the agent is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claude_wrapper.watchman import Watchman

__all__ = [
    "began",
    "begin_end",
    "is_over",
    "killed_all",
    "marked",
    "reaped",
    "was_killed",
    "watchman_pid",
]

_NAME = "CLAUDE_WRAPPER_RUN"
"""In the environment of all that this agent starts; what is started without it may outlive the agent."""
_PAUSES = (0.02, 0.03, 0.05, 0.1, 0.1, 0.1, 0.1)
"""Half a second for everybody to end in good order."""
_LONGEST_END = 2.0


class _Watch:
    """The process groups of this agent, and who ends them if it cannot."""

    def __init__(self) -> None:
        self.mark = os.urandom(8).hex()
        self._groups: dict[int, bool] = {}
        self._watchman = self._hire()
        self._deadline = 0.0

    @property
    def pid(self) -> int | None:
        """The id of the watchman's process."""
        return self._watchman.pid if self._watchman is not None else None

    def note(self, group: int, *, reaped: bool) -> None:
        """Take in a group, or that its first process is gone and reaped."""
        self._groups[group] = reaped
        self._report()

    def begin_end(self) -> None:
        """End everything; `is_over` says when that is done."""
        self._report()
        self._deadline = time.monotonic() + _LONGEST_END
        if self._watchman is not None:
            self._watchman.begin()
            return
        for group, reaped in self._groups.items():
            # A living process with the number of a reaped one would be somebody else.
            if not (reaped and _exists(group)):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGKILL)

    def is_over(self) -> bool:
        """Whether everything has ended, or has had its time."""
        if self._watchman is None or self._watchman.is_done():
            return True
        if time.monotonic() < self._deadline:
            return False
        self._watchman.forget()
        return True

    def _report(self) -> None:
        """Tell the watchman how things are; if that one is gone, there will be another."""
        self._groups = {each: gone for each, gone in self._groups.items() if not gone or _lives(each)}
        if self._watchman is not None:
            if self._watchman.watch(self._groups.items()):
                return
            self._watchman.dismiss()
        self._watchman = self._hire()
        if self._watchman is not None:
            self._watchman.watch(self._groups.items())

    def _hire(self) -> Watchman | None:
        from claude_wrapper.watchman import Watchman  # noqa: PLC0415  # start-up: not before the first command

        return Watchman.hire(_PAUSES, f"{_NAME}={self.mark}")


_watch: _Watch | None = None
_ending: _Watch | None = None
_killed: frozenset[int] = frozenset()


def marked(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that is about to be started; from now on somebody watches."""
    global _watch  # noqa: PLW0603  # one for the process, as are its children
    if _watch is None:
        _watch = _Watch()
    return {**environment, _NAME: _watch.mark}


def began(group: int) -> None:
    """A process was started, as the first one of its group."""
    if _watch is not None:
        _watch.note(group, reaped=False)


def reaped(group: int) -> None:
    """The first process of a group is gone; there may be others in it."""
    if _watch is not None:
        _watch.note(group, reaped=True)


def killed_all(processes: Iterable[int]) -> None:
    """The agent, told to end at once, has killed these."""
    global _killed  # noqa: PLW0603  # as above
    _killed = _killed.union(processes)


def was_killed(process: int) -> bool:
    """Whether the agent killed this process because it had to end itself."""
    return process in _killed


def watchman_pid() -> int | None:
    """The process that is to outlive all others, as long as there is something to watch."""
    return _watch.pid if _watch is not None else None


def begin_end() -> None:
    """Begin to end all that was started and what that has started."""
    global _watch, _ending
    if _watch is not None:
        _watch.begin_end()
        _watch, _ending = None, _watch


def is_over() -> bool:
    """Whether nothing is left of it, or nothing can be done about it."""
    return _ending is None or _ending.is_over()


def _lives(group: int) -> bool:
    """Whether the process group has members."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
