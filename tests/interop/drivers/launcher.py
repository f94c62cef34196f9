"""Stands in for the agent executable: starts the real one, passes signals on, notes its argv, pid and exit code.

A copy with the command filled in lies in every cell's folder. An SDK tells its caller little about how the
agent ended; this file tells the suite.
"""

import json
import os
import signal
import subprocess
import sys
import time

COMMAND: list[str] = json.loads("""@COMMAND@""")
LOG = os.environ["INTEROP_PROCESSES"]


def note(**row: object) -> None:
    """Append one line in a single write, since several launchers may share the file."""
    line = json.dumps(row) + "\n"
    descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, line.encode())
    os.close(descriptor)


def main() -> None:
    """Run the agent on our own pipes and end as it ends."""
    agent = subprocess.Popen([*COMMAND, *sys.argv[1:]])
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda caught, _frame: agent.send_signal(caught))
    note(pid=agent.pid, argv=sys.argv[1:], at=time.time())
    code = agent.wait()
    note(pid=agent.pid, code=code, at=time.time())
    if code < 0:
        if code != -signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
