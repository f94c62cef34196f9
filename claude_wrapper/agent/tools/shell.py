"""Runs one command line in a shell: what it printed, how it ended and in which folder."""

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

__all__ = ["ShellEnd", "find_shell", "run_in_shell"]

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


async def run_in_shell(
    command: str, cwd: Path, environment: dict[str, str], capture: Capture, seconds: float, setup: str = ""
) -> ShellEnd:
    """Run it to its end; cancelled or overdue, it is ended with all that it has started.

    `setup` is shell text to run first, ended by `;`. Raises OSError if the shell does not start.
    """
    code: int | None = None
    flooded = False

    def take(data: bytes) -> None:
        nonlocal flooded
        try:
            capture.feed(data)
        except OutputLimitError:
            flooded = True
            scope.cancel()

    child, cwd_pipe = _start(command, cwd, environment, setup)
    try:
        pump = Pump(child.stdout, take)
        with anyio.CancelScope(deadline=anyio.current_time() + seconds) as scope:
            code = await child.wait()
            with anyio.move_on_after(_LAST_OUTPUT):
                await pump.ended.wait()
    except BaseException:
        capture.discard()  # nobody will be told of it
        raise
    finally:
        if code is None:
            await child.stop()
        pump.detach()
        _leave(child, pump)
        new_cwd = _read_cwd(cwd_pipe)
    output = capture.finish()
    return ShellEnd(None if code is None else _exit_code(code, child), output, new_cwd, flooded)


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
