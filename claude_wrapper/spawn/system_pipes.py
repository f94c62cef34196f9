"""The best pipes that the system has for an agent."""

from __future__ import annotations

import logging
import subprocess  # noqa: TID251  # processes are started in this package
import sys

from .pipes import AgentPipes, InputPipe
from .pipes_threads import ThreadPipes

if sys.platform == "win32":
    from .input_threads import ThreadedInput as SystemInput
else:
    from .input_posix import NonblockingInput as SystemInput

if sys.platform == "linux":
    from .pipes_epoll import EpollPipes

__all__ = ["open_pipes"]

logger = logging.getLogger("claude_wrapper.spawn")


def open_pipes(process: subprocess.Popen[bytes]) -> tuple[AgentPipes, InputPipe]:
    """Return our ends of a process's pipes."""
    stdin = SystemInput(process)
    if sys.platform == "linux":
        try:
            return EpollPipes(process), stdin
        except OSError:
            # Kernels before 5.3, and some sandboxes, cannot tell of a process's end that way.
            logger.debug("threads wait for the agent", exc_info=True)
    return ThreadPipes(process), stdin
