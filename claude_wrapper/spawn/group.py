"""An agent together with the processes it has started: signals that reach all of them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

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

        def reap_adopted(self) -> None:
            """There are no zombies."""

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
            return self._signal(0) and _has_living_member(self._pid)

        def reap_adopted(self) -> None:
            """Reap what the agent has started and what is ours now, in a container whose first process we are.

            Only once the agent itself has been reaped, or its exit code is lost here.
            """
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-self._pid, os.WNOHANG)[0]:
                    pass

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


if sys.platform == "linux":

    def _has_living_member(group: int) -> bool:
        """Tell a group with processes from one with nothing but zombies, which nobody may ever reap."""
        with os.scandir("/proc") as entries:
            return any(_is_living_member(entry.path, group) for entry in entries if entry.name.isdecimal())

    def _is_living_member(folder: str, group: int) -> bool:
        with contextlib.suppress(OSError):
            fields = Path(folder, "stat").read_bytes().rpartition(b")")[2].split()
            return int(fields[2]) == group and fields[0] not in {b"Z", b"X"}
        return False

else:

    def _has_living_member(_group: int) -> bool:
        """Elsewhere zombies are reaped by the first process of the system."""
        return True
