"""Starts a child in its own process group, awaits it, and ends it together with all it has started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess  # noqa: TID251  # the room where the agent starts processes
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from . import secrecy, watch

__all__ = ["Child", "Pump", "drain_now", "start"]

_GRACE = 0.5
"""Seconds between asking a group to end and killing it."""
_POLL = 0.02
_REAP = 5.0
_CHUNK = 1 << 16


class Child:
    """A running child; its owner awaits `wait` or calls `stop`."""

    def __init__(self, process: subprocess.Popen[bytes], stdout: int, stderr: int | None) -> None:
        self._process = process
        self.stdout = stdout
        self.stderr = stderr
        self._pidfd: int | None = None
        with contextlib.suppress(OSError, AttributeError):
            self._pidfd = os.pidfd_open(process.pid)

    @property
    def pid(self) -> int:
        """Also the id of its process group and session."""
        return self._process.pid

    async def wait(self) -> int:
        """The return code, negative for a signal; the child is reaped."""
        while (code := self._process.poll()) is None:
            if self._pidfd is not None:
                await anyio.wait_readable(self._pidfd)
            else:
                await anyio.to_thread.run_sync(self._process.wait, abandon_on_cancel=True)
        self._is_gone()
        return code

    async def stop(self) -> None:
        """End the child, its group and its other descendants, kindly first; never takes long, never fails."""
        with anyio.CancelScope(shield=True):
            family = _descendants(self.pid)
            strays = [pid for pid in family if _group_of(pid) != self.pid]
            _signal_group(self.pid, signal.SIGTERM)
            for pid in strays:
                _signal_one(pid, signal.SIGTERM)
            with anyio.move_on_after(_GRACE):
                await self._gone(family)
            _signal_group(self.pid, signal.SIGKILL)
            for pid in strays:
                _signal_one(pid, signal.SIGKILL)
            with anyio.move_on_after(_REAP):
                await self._gone(family)
        self._is_gone()

    async def _gone(self, family: list[int]) -> None:
        """The child is reaped and none of the others runs; only children can be awaited, others must be looked at."""
        while self._process.poll() is None or any(map(_runs, family)):  # noqa: ASYNC110  # see above
            await anyio.sleep(_POLL)

    def close_pipes(self) -> None:
        """Let go of the output; what is still writing gets a broken pipe."""
        for descriptor in (self.stdout, self.stderr):
            if descriptor is not None:
                with contextlib.suppress(OSError):
                    os.close(descriptor)

    def _is_gone(self) -> None:
        if self._process.returncode is not None:
            watch.reaped(self.pid)
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: dict[str, str],
    separate_stderr: bool = False,
    pass_fds: Sequence[int] = (),
    stdin: int = subprocess.DEVNULL,
) -> Child:
    """Start a program, its output in one pipe (or stderr in a second one); raises OSError.

    It reads from the descriptor `stdin`, which stays the caller's; without one it has no input.
    """
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe() if separate_stderr else (None, out_write)
    secrecy.before_first_process()
    environment = watch.marked(environment)
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=environment,
            stdin=stdin,
            stdout=out_write,
            stderr=err_write,
            start_new_session=True,
            pass_fds=pass_fds,
        )
    except BaseException:
        os.close(out_read)
        if err_read is not None:
            os.close(err_read)
        raise
    finally:
        for descriptor in {out_write, err_write}:
            os.close(descriptor)
    watch.began(process.pid)
    os.set_blocking(out_read, False)
    if err_read is not None:
        os.set_blocking(err_read, False)
    return Child(process, out_read, err_read)


class Pump:
    """Gives what comes out of a pipe to `take`, as the event loop finds it, until its end."""

    def __init__(self, descriptor: int, take: Callable[[bytes], None]) -> None:
        self.ended = asyncio.Event()
        self._descriptor = descriptor
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._readable)

    def detach(self) -> None:
        """Stop; what is in the pipe now is still taken."""
        if not self.ended.is_set():
            self._loop.remove_reader(self._descriptor)
            if drain_now(self._descriptor, self._take):
                self.ended.set()

    def _readable(self) -> None:
        if drain_now(self._descriptor, self._take, most=16):
            self._loop.remove_reader(self._descriptor)
            self.ended.set()


def drain_now(descriptor: int, take: Callable[[bytes], None], most: int = 1024) -> bool:
    """Give what is in the pipe right now to `take`, `most` reads of it; True at its end."""
    for _ in range(most):
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            return True
        take(data)
    return False


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _signal_one(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _runs(pid: int) -> bool:
    """Whether the process does anything; one that is dead and waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1]
    except OSError:
        return False
    return state not in (b"Z", b"X")


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _descendants(pid: int) -> list[int]:
    """Children, their children and so on, as far as the system tells."""
    found: list[int] = []
    pending = [pid]
    while pending:
        current = pending.pop()
        with contextlib.suppress(OSError, ValueError):
            children = Path(f"/proc/{current}/task/{current}/children").read_text()
            pending += map(int, children.split())
        if current != pid:
            found.append(current)
    return found
