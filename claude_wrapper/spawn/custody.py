"""What has to be given back for each started process, whichever way its life or ours ends."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess  # noqa: TID251  # processes are started in this package
import time
import warnings
import weakref

from claude_wrapper.watchman import Watchman

from .group import ProcessGroup
from .pipes import AgentPipes
from .private_files import PrivateFolder

__all__ = ["Custody"]

_LAST_SECONDS = 1.0
"""How long all processes together may take to end when the program ends."""

_PAUSES = (0.1,) * 20
"""Two seconds for an orphaned agent to end in good order."""

_held: weakref.WeakSet[Custody] = weakref.WeakSet()
_prepared = False


class Custody:
    """A process, its group, its guard and its files. Needs no event loop.

    Whoever drops it without `release` leaves the process to be killed; so does the end of the
    program. A forked child lets go of it without touching the process, which is not its own.
    """

    def __init__(self, process: subprocess.Popen[bytes], pipes: AgentPipes, folder: PrivateFolder) -> None:
        self._process = process
        self._pipes = pipes
        self._folder = folder
        self._group = ProcessGroup(process.pid)
        self._released = False
        _held.add(self)
        _prepare()
        self._guard = Watchman.hire(_PAUSES)
        if self._guard is not None:
            self._guard.watch([(process.pid, False)])

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_released(self) -> bool:
        """Whether everything has been given back."""
        return self._released

    def poll(self) -> int | None:
        """Return the exit code, None while the process runs."""
        return self._process.poll()

    def reap(self) -> int:
        """Return the exit code of a process that has ended, and tell what it has started to end too."""
        code = self._process.wait()
        # Asked after the process was reaped: while anything is left, the group's id is not given away.
        if self.has_company():
            self._group.terminate()
        return code

    def has_company(self) -> bool:
        """Whether anything of the group runs."""
        if self._released:
            return False
        if self._process.returncode is not None:
            self._group.reap_adopted()
        return self._group.is_populated()

    def terminate(self) -> None:
        """Ask all of the group to end."""
        if not self._released:
            self._group.terminate()

    def kill(self) -> None:
        """End all of the group at once."""
        if self._process.poll() is None or self.has_company():
            self._group.kill()

    def release(self) -> None:
        """Give everything back, once the process has ended. Nobody may be waiting for its pipes."""
        if self._released:
            return
        self._released = True
        _held.discard(self)
        self._close_files()
        self._group.close()
        if self._guard is not None:
            self._guard.dismiss()
        self._folder.remove()

    def _close_files(self) -> None:
        self._pipes.close()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _begin_to_end(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._group.terminate()

    def _end(self) -> None:
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_SECONDS)
        self.release()

    def _disown(self) -> None:
        self._released = True
        self._close_files()
        if self._guard is not None:
            self._guard.forget()
        # Not a child of this process: there is nothing to wait for.
        self._process.returncode = 0

    def __del__(self) -> None:
        if not getattr(self, "_released", True):
            warnings.warn(f"the agent {self.pid} was not stopped", ResourceWarning, source=self, stacklevel=2)
            self._end()


def _prepare() -> None:
    """Ask the interpreter to tell of its end and of forks; once a program."""
    global _prepared  # noqa: PLW0603  # hooks of the interpreter cannot be taken back
    if not _prepared:
        _prepared = True
        atexit.register(_end_all)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_disown_all)


def _end_all() -> None:
    held = list(_held)
    for custody in held:
        custody._begin_to_end()  # noqa: SLF001  # this module's own
    deadline = time.monotonic() + _LAST_SECONDS
    while time.monotonic() < deadline and any(custody.poll() is None for custody in held):
        time.sleep(0.01)
    for custody in held:
        custody._end()  # noqa: SLF001  # this module's own


def _disown_all() -> None:
    for custody in list(_held):
        custody._disown()  # noqa: SLF001  # this module's own
    _held.clear()
