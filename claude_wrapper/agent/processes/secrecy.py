"""Keeps the agent's credentials from the processes that it starts, as far as the system allows.

A command may look at its parent: at the environment that the agent was started with, and at its
memory. The former is overwritten, the latter closed. A superuser with the right to trace processes
can read the memory all the same.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection
from pathlib import Path

__all__ = ["before_first_process", "hide_environment"]

_ENV_START, _ENV_END = 47, 48
"""Where the environment lies: fields of /proc/PID/stat, counted behind the name."""
_PR_SET_DUMPABLE = 4

_memory_is_to_close = False


def hide_environment(names: Collection[str]) -> None:
    """Overwrite these variables where other processes can see them; `os.environ` keeps them.

    Also asks for the memory to be closed before the first process is started.
    """
    global _memory_is_to_close  # noqa: PLW0603  # a matter of the whole process
    _memory_is_to_close = True
    if sys.platform == "linux" and names:
        with contextlib.suppress(OSError, ValueError, IndexError):
            _overwrite({os.fsencode(name) for name in names})


def before_first_process() -> None:
    """Close the memory of this process to others of the same user, once."""
    global _memory_is_to_close  # noqa: PLW0603  # as above
    if not _memory_is_to_close:
        return
    _memory_is_to_close = False
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415  # start-up: not before the first command

        zero = ctypes.c_ulong(0)
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, zero, zero, zero, zero)


def _overwrite(names: set[bytes]) -> None:
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    start, end = int(fields[_ENV_START]), int(fields[_ENV_END])
    memory = os.open("/proc/self/mem", os.O_RDWR | os.O_CLOEXEC)
    try:
        at = start
        for entry in os.pread(memory, end - start, start).split(b"\0"):
            name, _, value = entry.partition(b"=")
            if value and name in names:
                os.pwrite(memory, bytes(len(value)), at + len(name) + 1)
            at += len(entry) + 1
    finally:
        os.close(memory)
