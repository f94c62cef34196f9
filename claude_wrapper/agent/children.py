"""The processes that this one has started, as the system knows them; for the moment when all must go."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

__all__ = ["kill_children"]


def kill_children() -> list[int]:
    """Kill every child with its process group; returns their ids.

    Tools run their commands in groups of their own, which no signal to this process reaches. The
    watchman is left: it ends what the children have started elsewhere.
    """
    from .processes.watch import killed_all, watchman_pid  # noqa: PLC0415  # not before it is needed

    own, group, spared = os.getpid(), os.getpgid(0), watchman_pid()
    killed = []
    for pid in _children(own):
        if pid == spared:
            continue
        with contextlib.suppress(ProcessLookupError, PermissionError):
            theirs = os.getpgid(pid)
            if theirs == group:
                os.kill(pid, signal.SIGKILL)
            else:
                os.killpg(theirs, signal.SIGKILL)
            killed.append(pid)
    killed_all(killed)
    return killed


def _children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except OSError:
            continue
        # The name, in parentheses, may hold anything; the parent's id is the second field behind it.
        fields = text[text.rfind(")") + 2 :].split()
        if len(fields) > 1 and fields[1] == str(parent):
            found.append(int(stat.parent.name))
    return found
