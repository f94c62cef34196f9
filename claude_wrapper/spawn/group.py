"""An agent together with the processes it has started: signals that reach all of them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

if sys.platform == "win32":
    from .windows_job import Job

__all__ = ["ProcessGroup"]


if sys.platform == "win32":

    class ProcessGroup:
        """A job object: what the agent starts belongs to it, and it ends with this program."""

        def __init__(self, pid: int) -> None:
            self._pid = pid
            self._job = Job.holding(pid)

        def terminate(self) -> None:
            """Ask the agent to end."""
            with contextlib.suppress(OSError):
                os.kill(self._pid, signal.CTRL_BREAK_EVENT)

        def kill(self) -> None:
            """End all processes at once."""
            if self._job is not None:
                self._job.end()
            else:
                with contextlib.suppress(OSError):
                    os.kill(self._pid, signal.SIGTERM)

        def is_populated(self) -> bool:
            """Whether processes are left, as far as it can be told."""
            return self._job is not None and self._job.count() > 0

        def close(self) -> None:
            """Give the job back; what is left in it ends."""
            if self._job is not None:
                self._job.close()
                self._job = None

else:

    class ProcessGroup:
        """A POSIX process group, whose id is that of the agent."""

        def __init__(self, pid: int) -> None:
            self._pid = pid

        def terminate(self) -> None:
            """Ask all processes to end."""
            self._signal(signal.SIGTERM)

        def kill(self) -> None:
            """End all processes at once."""
            self._signal(signal.SIGKILL)

        def is_populated(self) -> bool:
            """Whether processes are left, the agent itself included until it is reaped."""
            return self._signal(0)

        def close(self) -> None:
            """Nothing has to be given back."""

        def _signal(self, number: int) -> bool:
            try:
                os.killpg(self._pid, number)
            except PermissionError:
                # Some of them run as somebody else; the others got it.
                return True
            except OSError:
                return False
            return True
