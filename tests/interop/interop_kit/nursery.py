"""Driver processes that have their SDK loaded: each plays one run after another, or forks for each of them."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DRIVERS = Path(__file__).parent.with_name("drivers")
START_PATIENCE = 60.0


@dataclass(frozen=True)
class Ended:
    """How a driver ended: its exit code, None when it had to be stopped; the processor time of all that it ran."""

    code: int | None
    cpu: float


@dataclass(frozen=True)
class Kind:
    """What is started: a program that plays runs, or one that forks and starts `script` in the fork."""

    command: tuple[str, ...]
    script: Path | None = None


class Nursery:
    """One such process, which plays one run at a time."""

    def __init__(self, kind: Kind, environment: dict[str, str]) -> None:
        self._kind = kind
        self._told: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process = subprocess.Popen(
            kind.command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._told.put(json.loads(line))
        self._told.put(None)

    def run(self, job: dict[str, Any], timeout: float) -> Ended:
        """Play one job, stop the driver after `timeout`, and end what it left in its group."""
        assert self._process.stdin is not None
        line = json.dumps({**job, "script": str(self._kind.script)})
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        started = self._told.get(timeout=START_PATIENCE)
        if started is None:
            return Ended(self._process.wait(START_PATIENCE), 0)
        try:
            ended = self._told.get(timeout=timeout)
        except queue.Empty:
            end_group(started["pid"])
            return Ended(None, 0)
        self._end_left_over(started["pid"])
        return Ended(**ended) if ended else Ended(self._process.wait(START_PATIENCE), 0)

    def _end_left_over(self, driver: int) -> None:
        """End what the driver left in its group, but not a driver that plays on."""
        if driver != self._process.pid:
            end_group(driver)
            return
        for member in others_in_group(driver):
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait(START_PATIENCE)
        self._reader.join(START_PATIENCE)
        self._process.stdout.close()


class Nurseries:
    """As many nurseries of each kind as drivers run at the same time; they stay until `close`."""

    def __init__(self) -> None:
        self._idle: dict[Kind, list[Nursery]] = {}
        self._lock = threading.Lock()

    def run(self, kind: Kind, job: dict[str, Any], environment: dict[str, str], timeout: float) -> Ended:
        """Play `job` in a nursery of this kind; `environment` is that of the imports. A fault ends the nursery."""
        with self._lock:
            idle = self._idle.setdefault(kind, [])
            nursery = idle.pop() if idle else None
        nursery = nursery or Nursery(kind, environment)
        ended = nursery.run(job, timeout)
        if ended.code != 0:
            nursery.close()
            return ended
        with self._lock:
            idle.append(nursery)
        return ended

    def close(self) -> None:
        """End all nurseries. None of them runs a driver any more."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()


def end_group(leader: int) -> None:
    """Kill what a driver left in its process group, and the driver if it still runs."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def others_in_group(leader: int) -> list[int]:
    """The processes of a group without the one that leads it, where the system lists them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            group = int(path.read_text().rpartition(")")[2].split()[2])
            if group == leader and int(path.parent.name) != leader:
                found.append(int(path.parent.name))
    return found
