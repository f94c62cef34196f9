"""One start of a scripted agent, as its files show it to the test."""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from claude_wrapper.testing import lenient_json
from claude_wrapper.testing.gates import DEFAULT_WAIT
from claude_wrapper.testing.polling import poll, poll_async

__all__ = ["AgentGate", "AgentRun", "ProcessState", "process_state"]

ProcessState = Literal["running", "zombie", "gone"]


class AgentRun:
    """What a started agent was given, what it has read, and whether it still lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __repr__(self) -> str:
        # Environment and frames stay out: they may hold a key or somebody's prompt.
        return f"<AgentRun {self._folder.name} of process {self.pid}>"

    @property
    def started(self) -> bool:
        """Whether the process has got as far as to leave its facts."""
        return (self._folder / "start").exists()

    @cached_property
    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = marshal.loads((self._folder / "start").read_bytes())  # noqa: S302  # our child's
        return facts

    @property
    def argv(self) -> list[str]:
        """The arguments, without the executable."""
        return list(self._facts["argv"][1:])

    @property
    def env(self) -> dict[str, str]:
        """The environment."""
        return dict(self._facts["env"])

    @property
    def cwd(self) -> Path:
        """The working directory at the start."""
        return Path(self._facts["cwd"])

    @property
    def pid(self) -> int:
        """The process."""
        return int(self._facts["pid"])

    @property
    def children(self) -> list[int]:
        """The processes that it spawned."""
        return [pid for pid, _ in self._births()[1:]]

    @property
    def received(self) -> bytes:
        """Every byte that it has read from stdin."""
        try:
            return (self._folder / "stdin").read_bytes()
        except FileNotFoundError:
            return b""

    @property
    def frames(self) -> list[dict[str, Any]]:
        """The whole frames that it has read from stdin."""
        whole, _, _ = self.received.rpartition(b"\n")
        return [lenient_json.decode(line) for line in whole.split(b"\n") if line.strip()]

    def frames_of(self, kind: str) -> list[dict[str, Any]]:
        """The frames of this type or, for control requests, this subtype."""
        return [frame for frame in self.frames if kind in _kinds(frame)]

    def wait_frame(self, kind: str, timeout: float = DEFAULT_WAIT) -> dict[str, Any]:
        """Block until a frame of this type or subtype was read, and give the newest."""
        return poll(lambda: self.frames_of(kind), f"a frame {kind!r} on stdin", timeout)[-1]

    async def frame(self, kind: str, timeout: float = DEFAULT_WAIT) -> dict[str, Any]:
        """Wait in an event loop until a frame of this type or subtype was read, and give the newest."""
        return (await poll_async(lambda: self.frames_of(kind), f"a frame {kind!r} on stdin", timeout))[-1]

    @property
    def state(self) -> ProcessState:
        """Whether the process runs, waits for its parent to take note of its end, or is gone."""
        return process_state(*self._births()[0])

    @property
    def states_of_children(self) -> list[ProcessState]:
        """The same of the processes that it spawned."""
        return [process_state(*child) for child in self._births()[1:]]

    def wait_gone(self, timeout: float = DEFAULT_WAIT) -> None:
        """Block until neither the process nor any that it spawned is left, not even as a zombie."""
        poll(self._all_gone, f"the end of process {self.pid} and its children", timeout)

    async def gone(self, timeout: float = DEFAULT_WAIT) -> None:
        """Wait in an event loop until neither the process nor any that it spawned is left."""
        await poll_async(self._all_gone, f"the end of process {self.pid} and its children", timeout)

    def kill(self) -> None:
        """End whatever is left of the process and those that it spawned."""
        for pid, born in self._births():
            # Without a time of birth there is no telling whose number it is by now.
            if born and process_state(pid, born) == "running":
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def _all_gone(self) -> bool:
        return all(process_state(*process) == "gone" for process in self._births())

    def _births(self) -> list[tuple[int, int]]:
        """The process and its children, each with its time of birth."""
        births = [(self.pid, int(self._facts["birth"]))]
        with contextlib.suppress(FileNotFoundError):
            for line in (self._folder / "children").read_text().splitlines():
                pid, born = line.split()
                births.append((int(pid), int(born)))
        return births


class AgentGate:
    """A place where a scripted agent stands still until the test lets it pass."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def release(self) -> None:
        """Let the agent, and every later one, pass."""
        self._path.with_name(self._path.name + ".open").touch()

    def wait(self, timeout: float = DEFAULT_WAIT) -> None:
        """Block this thread until an agent stands at the gate."""
        poll(self._is_reached, f"an agent stands at gate {self._path.name!r}", timeout)

    async def reached(self, timeout: float = DEFAULT_WAIT) -> None:
        """Wait in an event loop until an agent stands at the gate."""
        await poll_async(self._is_reached, f"an agent stands at gate {self._path.name!r}", timeout)

    def _is_reached(self) -> bool:
        return self._path.with_name(self._path.name + ".reached").exists()


def process_state(pid: int, born: int = 0) -> ProcessState:
    """What has become of a process; `born` (its start in kernel ticks) tells it from a later one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return _state_by_signal(pid) if not Path("/proc/self/stat").exists() else "gone"
    fields = stat.rpartition(b")")[2].split()
    if born and int(fields[19]) != born:
        return "gone"
    return "zombie" if fields[0] in (b"Z", b"X") else "running"


def _state_by_signal(pid: int) -> ProcessState:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "gone"
    except OSError:
        return "running"
    return "running"


def _kinds(frame: dict[str, Any]) -> tuple[str | None, ...]:
    return frame.get("type"), (frame.get("request") or {}).get("subtype")
