"""The output of background processes that a finished command has left: taken, so that it blocks nobody."""

from __future__ import annotations

import asyncio
import contextlib
import os

from .child import drain_now

__all__ = ["adopt", "let_go"]

_pipes: set[int] = set()


def adopt(pipe: int) -> None:
    """Take over a pipe that is still written to.

    It stays open, since closing it would kill a server at its next line of log; what comes out of
    it is thrown away.
    """
    _pipes.add(pipe)
    asyncio.get_running_loop().add_reader(pipe, _throw_away, pipe)


def let_go() -> None:
    """Close all that is open; for the end of the session."""
    for pipe in list(_pipes):
        _close(pipe)


def _throw_away(pipe: int) -> None:
    if drain_now(pipe, lambda _: None, most=16):
        _close(pipe)


def _close(pipe: int) -> None:
    _pipes.discard(pipe)
    with contextlib.suppress(RuntimeError):  # no loop any more
        asyncio.get_running_loop().remove_reader(pipe)
    with contextlib.suppress(OSError):
        os.close(pipe)
