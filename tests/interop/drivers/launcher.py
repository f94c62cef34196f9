"""Stands in for the agent executable: starts the real one, passes signals on, notes its pid, exit code and cost.

A copy with the command filled in lies in every cell's folder. An SDK tells its caller little about how the
agent ended; this file tells the suite. It stands before every agent of the suite, so it imports next to nothing.
"""

import _signal as signal  # the names alone: its enumerations would double what this program costs
import os
import sys

COMMAND: list[str] = ["@COMMAND@"]
LOG = os.environ["INTEROP_PROCESSES"]


def note(line: str) -> None:
    """Append one line in a single write, since several launchers may share the file."""
    descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def main() -> None:
    """Run the agent on our own pipes and end as it ends."""
    arguments = [*COMMAND, *sys.argv[1:]]
    agent = os.posix_spawn(COMMAND[0], arguments, os.environ, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda caught, _frame: os.kill(agent, caught))
    note(f'{{"pid": {agent}}}\n')
    _, status, used = os.wait4(agent, 0)
    code = os.waitstatus_to_exitcode(status)
    note(f'{{"pid": {agent}, "code": {code}, "cpu": {used.ru_utime + used.ru_stime:.3f}}}\n')
    if code < 0:
        if code != -signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
