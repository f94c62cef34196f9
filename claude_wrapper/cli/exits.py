"""The exit codes of `claude-wrapper`: the one place where they are defined and explained."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["EXPLANATIONS", "Exit", "by_signal", "table"]


class Exit(IntEnum):
    """How a command ended."""

    SUCCESS = 0
    ERROR_RESULT = 1
    USAGE = 2
    NOT_STARTED = 3
    NOT_AUTHENTICATED = 4
    AGENT_DIED = 5
    BUG = 70
    OUTPUT_FAILED = 74
    TIMED_OUT = 124
    HUNG_UP = 129
    INTERRUPTED = 130
    OUTPUT_CLOSED = 141
    TERMINATED = 143


EXPLANATIONS: dict[Exit, str] = {
    Exit.SUCCESS: "the run ended well",
    Exit.ERROR_RESULT: "the run ended in an error result: a limit was reached, the API failed, the demo fixed nothing, the doctor found a fault",
    Exit.USAGE: "the command line or an option is wrong; nothing was started",
    Exit.NOT_STARTED: "the agent could not be started, or ended before it was ready",
    Exit.NOT_AUTHENTICATED: "there is no key for the API, or the API refused it",
    Exit.AGENT_DIED: "the agent died, or broke off without a result",
    Exit.BUG: "a bug in this program; its traceback is on stderr",
    Exit.OUTPUT_FAILED: "output or a temporary file could not be written, for example because the disk is full",
    Exit.TIMED_OUT: "the time given by --timeout was up",
    Exit.HUNG_UP: "ended by SIGHUP: the terminal was closed",
    Exit.INTERRUPTED: "interrupted by Ctrl-C",
    Exit.OUTPUT_CLOSED: "whoever read the output stopped reading, as `head` does",
    Exit.TERMINATED: "ended by SIGTERM",
}


def by_signal(number: int) -> int:
    """Return the exit code of a command that a signal ended, as shells count."""
    return 128 + number


def table() -> str:
    """Return the codes with their meanings, one a line."""
    return "\n".join(f"  {code.value:>3}  {text}" for code, text in EXPLANATIONS.items())
