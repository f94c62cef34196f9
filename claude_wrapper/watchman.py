"""A watchman: ends the processes that this program has started when it is gone without having done so.

A program that is killed runs no clean-up, and what it has started may ignore that its input has
ended, or have none. A tiny shell, in a session of its own, waits for the end of a pipe that only
this program holds. (Linux could signal the children themselves, but that fires when the thread
that started them ends, reaches nothing that they have started, and needs code between fork and exec.)
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess  # noqa: TID251  # what both halves need to end the processes they start
from collections.abc import Iterable, Sequence

__all__ = ["Watchman"]

logger = logging.getLogger("claude_wrapper")

_SHELL = "/bin/sh"

# $1: what marked processes have in their environment. The other arguments: how long to wait between
# looks at what is left, after which it is killed. The last line that came counts: ids of process
# groups, with a `-` behind those whose first process is gone and reaped. A living process of that id
# would be somebody else's: the id is given out again once the group is empty. Groups that marked
# processes lead count as well: a program may be gone before it could tell of the last one it started.
_SCRIPT = """\
trap '' HUP INT TERM
groups=
while read -r line; do groups=$line; done
mark=$1
shift
ours=
for group in $groups; do
    leader=${group%-}
    [ "$leader" != "$group" ] && kill -s 0 "$leader" && continue
    ours="$ours $leader"
done
marked() {
    [ -z "$mark" ] || grep -lsF -- "$mark" /proc/[0-9]*/environ | tr -dc '0-9\\n'
}
ours="$ours $(marked)"
tell() {
    nobody=1
    for group in $ours; do
        kill -s "$1" -- "-$group" && nobody=0
    done
    for process in $(marked); do
        kill -s "$1" "$process" && nobody=0
    done
    return $nobody
}
tell TERM || exit 0
for pause; do
    sleep "$pause"
    tell 0 || exit 0
done
for again in 1 2 3 4 5; do
    tell KILL || exit 0
    sleep 0.05
done
"""


class Watchman:
    """Watches over process groups, and over all that have a mark in their environment."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process: subprocess.Popen[bytes] | None = process

    @classmethod
    def hire(cls, pauses: Sequence[float], mark: str = "") -> Watchman | None:
        """Start one; None where the system has no shell for it.

        What is still there after the pauses (in seconds) is killed. `mark` is `NAME=VALUE` of an
        environment; where the system does not show environments it finds nothing.
        """
        if os.name != "posix":
            return None
        try:
            process = subprocess.Popen(
                [_SHELL, "-c", _SCRIPT, "claude-wrapper-watchman", mark, *map(str, pauses)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": f"{os.defpath}:{os.environ.get('PATH', '')}"},
                cwd="/",
                bufsize=0,
                start_new_session=True,
            )
        except OSError:
            logger.debug("there is no watchman", exc_info=True)
            return None
        assert process.stdin is not None
        # Whoever stopped the watchman must not stop this program as well.
        os.set_blocking(process.stdin.fileno(), False)
        return cls(process)

    @property
    def pid(self) -> int | None:
        """The process id; None once it is dismissed or forgotten."""
        return self._process.pid if self._process is not None else None

    def watch(self, groups: Iterable[tuple[int, bool]]) -> bool:
        """Watch over these process groups and no others; whether the watchman has taken it in.

        Beside the id stands whether the group's first process is gone and reaped.
        """
        if self._process is None or self._process.stdin is None:
            return False
        line = " ".join(f"{group}-" if reaped else str(group) for group, reaped in groups)
        try:
            return os.write(self._process.stdin.fileno(), f"{line}\n".encode()) == len(line) + 1
        except (OSError, ValueError):  # it was killed, stopped, or told to begin
            return False

    def begin(self) -> None:
        """Have it do its work now."""
        if self._process is not None:
            _close(self._process)

    def is_done(self) -> bool:
        """Whether it has ended."""
        return self._process is None or self._process.poll() is not None

    def dismiss(self) -> None:
        """End the watchman before it has seen the pipe close."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _close(process)
            process.wait()

    def forget(self) -> None:
        """Leave it to itself. A forked child has to: its end of the pipe would hide the end of the parent."""
        process, self._process = self._process, None
        if process is not None:
            _close(process)
            # Nobody waits for it here any more.
            process.returncode = 0


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
