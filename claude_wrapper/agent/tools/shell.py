"""One command line that a shell runs: what it printed, how it ended and in which folder."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from claude_wrapper.agent.processes import leftovers
from claude_wrapper.agent.processes.child import Child, Pump, drain_now, start
from claude_wrapper.agent.processes.watch import was_killed

from .capture import Capture, Captured, OutputLimitError

__all__ = ["Shell", "ShellEnd", "find_shell", "start_shell"]

_LAST_OUTPUT = 0.1
"""Seconds to wait after the shell's end for output of processes that it did not wait for."""
_LONGEST_ARGUMENT = 100_000
"""Linux takes 128 KiB in one argument; quoting makes a command longer."""


@dataclass(frozen=True, slots=True)
class ShellEnd:
    """A command that is over."""

    code: int | None
    """The exit code; None if it was ended because it took too long or printed too much."""
    output: Captured
    cwd: str
    """The folder in which it ended; empty if it failed."""
    flooded: bool
    """It printed too much."""


def find_shell(environment: Mapping[str, str]) -> str:
    """The shell to use: bash if there is one, else the system's sh."""
    wanted = environment.get("CLAUDE_CODE_SHELL", "")
    for candidate in (wanted, "/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    return "/bin/sh"


class Shell:
    """A command that runs. Whoever has it awaits `wait`, and then takes its end from `end`."""

    def __init__(self, child: Child, cwd_pipe: int, capture: Capture) -> None:
        self.capture = capture
        self.stopped = False
        """It was to end before it was done."""
        self.flooded = False
        """It printed too much."""
        self._child = child
        self._cwd_pipe = cwd_pipe
        self._code: int | None = None
        self._scope: anyio.CancelScope | None = None
        self._waited_for = anyio.Lock()
        self._pump = Pump(child.stdout, self._take)

    @property
    def ended(self) -> bool:
        """Whether it came to its end by itself."""
        return self._code is not None

    async def wait(self, seconds: float) -> None:
        """Wait until it is done, but no longer than that, nor after it is `let_go` or stopped."""
        # Who waited before may not have heard yet that somebody else does so now.
        async with self._waited_for:
            if self.stopped or self.flooded or self.ended:
                return
            with anyio.CancelScope(deadline=anyio.current_time() + seconds) as self._scope:
                self._code = await self._child.wait()
                with anyio.move_on_after(_LAST_OUTPUT):
                    await self._pump.ended.wait()

    def let_go(self) -> None:
        """Whoever waits is to wait no longer."""
        if self._scope is not None:
            self._scope.cancel()

    def stop(self) -> None:
        """It is to end now; whoever waits for it sees to that."""
        self.stopped = True
        self.let_go()

    async def end(self) -> ShellEnd:
        """What became of it. What still runs is ended with all that it has started."""
        await self.close()
        output = self.capture.finish()
        code = None if self._code is None else _exit_code(self._code, self._child)
        return ShellEnd(code, output, self.cwd, self.flooded)

    async def close(self) -> None:
        """Leave nothing of it behind."""
        if self._code is None:
            await self._child.stop()
        self._pump.detach()
        _leave(self._child, self._pump)
        self.cwd = _read_cwd(self._cwd_pipe)

    @property
    def exit_code(self) -> int:
        """The code that it ended with, as shells tell it."""
        return 128 + signal.SIGKILL if self._code is None else _exit_code(self._code, self._child)

    def _take(self, data: bytes) -> None:
        try:
            self.capture.feed(data)
        except OutputLimitError:
            self.flooded = True
            self.let_go()


def start_shell(
    command: str, cwd: Path, environment: dict[str, str], capture: Capture, setup: str = ""
) -> Shell:
    """Start a command; `setup` is shell text to run first, ended by `;`. Raises OSError."""
    return Shell(*_start(command, cwd, environment, setup), capture)


def _start(command: str, cwd: Path, environment: dict[str, str], setup: str) -> tuple[Child, int]:
    """The running shell, and the pipe on which it will tell its folder.

    It is a pipe of its own so that nothing that a command prints can be taken for the folder;
    the command itself gets it closed where the shell can do that.
    """
    shell = find_shell(environment)
    read_end, write_end = os.pipe()
    try:
        with _as_shell_word(command) as (word, descriptor):
            closed = f" {write_end}>&-" if shell.endswith("bash") else ""
            if "CLAUDE_ENV_FILE" in environment:
                setup += 'test -f "$CLAUDE_ENV_FILE" && . "$CLAUDE_ENV_FILE"; unset CLAUDE_ENV_FILE; '
            report = f"{{ _code=$?; [ $_code -eq 0 ] && pwd -P >/dev/fd/{write_end}; set +x; }} 2>/dev/null"
            script = f"{setup}eval {word}{closed}; {report}; exit $_code"
            inherited = [write_end] if descriptor is None else [write_end, descriptor]
            argv = [shell, "-c", script, shell]
            child = start(argv, cwd=cwd, environment={**environment, "SHELL": shell}, pass_fds=inherited)
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    os.set_blocking(read_end, False)
    return child, read_end


@contextlib.contextmanager
def _as_shell_word(command: str) -> Iterator[tuple[str, int | None]]:
    """The command as one word of a script; a long one is read from a file that the shell inherits."""
    if len(command.encode()) <= _LONGEST_ARGUMENT:
        yield "'" + command.replace("'", "'\"'\"'") + "'", None
        return
    import tempfile  # noqa: PLC0415  # such commands are rare

    with tempfile.TemporaryFile() as file:
        file.write(command.encode())
        file.seek(0)
        yield (
            f'"$(cat <&{file.fileno()})"' if file.fileno() < 10 else f'"$(cat /dev/fd/{file.fileno()})"',
            file.fileno(),
        )


def _leave(child: Child, pump: Pump) -> None:
    """Let go of a command that is over; the output of what runs on in the background is taken over."""
    if pump.ended.is_set():
        child.close_pipes()
    else:
        leftovers.adopt(child.stdout)


def _read_cwd(pipe: int) -> str:
    chunks: list[bytes] = []
    drain_now(pipe, chunks.append)
    os.close(pipe)
    return os.fsdecode(b"".join(chunks).removesuffix(b"\n"))


def _exit_code(code: int, child: Child) -> int:
    """A shell that was killed or interrupted counts as failed; other signals show as shells show them."""
    if code == -signal.SIGKILL and was_killed(child.pid):
        return 128 + signal.SIGKILL
    if code >= 0:
        return code
    return 1 if -code in (signal.SIGKILL, signal.SIGINT) else 128 - code
