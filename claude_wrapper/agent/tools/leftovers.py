"""Background processes that a finished command has left: kept from blocking, and ended with the session."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from .process import drain_now, group_lives

__all__ = ["adopt", "end_leftovers"]

_groups: dict[int, int | None] = {}
"""Process group → the read end of the pipe that it still writes to, if it does."""


def adopt(group: int, pipe: int | None) -> None:
    """Take over the group of a shell that has ended, and what is still written to its output.

    The pipe stays open, since closing it would kill a server at its next line of log; what
    comes out of it is thrown away.
    """
    for other in [
        each for each, descriptor in _groups.items() if descriptor is None and not group_lives(each)
    ]:
        del _groups[other]
    _groups[group] = pipe
    if pipe is not None:
        asyncio.get_running_loop().add_reader(pipe, _throw_away, group, pipe)


def end_leftovers() -> None:
    """Kill all that is left; for the end of the session."""
    for group, pipe in list(_groups.items()):
        # A living process with the group's own number would be somebody else: ours is dead and
        # reaped, and its number is given out again only when its group is empty.
        if not _exists(group):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        if pipe is not None:
            _let_go(pipe)
    _groups.clear()


def _throw_away(group: int, pipe: int) -> None:
    if not drain_now(pipe, lambda _: None, most=16):
        return
    _let_go(pipe)
    if group_lives(group):
        _groups[group] = None
    else:
        _groups.pop(group, None)


def _let_go(pipe: int) -> None:
    with contextlib.suppress(RuntimeError):  # no loop any more
        asyncio.get_running_loop().remove_reader(pipe)
    with contextlib.suppress(OSError):
        os.close(pipe)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
