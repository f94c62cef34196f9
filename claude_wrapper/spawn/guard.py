"""A watchman for one agent: ends its process group when this program is gone without having done so.

A program that is killed runs no clean-up, and an agent may ignore that its input has ended, or have
started processes that do. A tiny shell, in a session of its own, waits for the end of a pipe that
only this program holds. (Linux could signal the agent itself, but that fires when the thread
that started it ends, reaches nothing the agent has started, and needs code between fork and exec.)
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess  # noqa: TID251  # processes are started in this package

__all__ = ["Guard"]

logger = logging.getLogger("claude_wrapper.spawn")

_SHELL = "/bin/sh"

_SCRIPT = """\
trap '' HUP INT TERM
read -r line
kill -s TERM -- "-$1"
for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    kill -s 0 -- "-$1" || exit 0
    sleep 0.1
done
kill -s KILL -- "-$1"
"""


class Guard:
    """The watchman of one process group."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process: subprocess.Popen[bytes] | None = process

    @classmethod
    def over(cls, group: int) -> Guard | None:
        """Start a watchman; None where the system has no shell for one."""
        if os.name != "posix":
            return None
        try:
            process = subprocess.Popen(
                [_SHELL, "-c", _SCRIPT, "claude-wrapper-guard", str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath},
                cwd="/",
                bufsize=0,
                start_new_session=True,
            )
        except OSError:
            logger.debug("no watchman for process group %s", group, exc_info=True)
            return None
        return cls(process)

    def dismiss(self) -> None:
        """End the watchman before it has seen the pipe close."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _close(process)
            process.wait()

    def forget(self) -> None:
        """In a forked child: let go of the pipe, which would hide the end of the parent."""
        process, self._process = self._process, None
        if process is not None:
            _close(process)
            # Not our child: there is nothing to wait for.
            process.returncode = 0


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
