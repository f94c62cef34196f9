"""Driver processes: Python ones are forked by a nursery that has imported their SDK, others are started as they are."""

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


class NurseryBrokenError(Exception):
    """A nursery ended although nobody had closed it."""


@dataclass(frozen=True)
class Kind:
    """What is started: an interpreter, the script, and the modules that it will need."""

    interpreter: str
    script: Path
    modules: tuple[str, ...]


class Nursery:
    """One nursery, which runs one driver at a time."""

    def __init__(self, kind: Kind, environment: dict[str, str]) -> None:
        self._kind = kind
        self._told: queue.Queue[dict[str, int] | None] = queue.Queue()
        self._process = subprocess.Popen(
            [kind.interpreter, str(DRIVERS / "nursery.py"), *kind.modules],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._told.put(json.loads(line))
        self._told.put(None)

    def run(self, job: dict[str, Any], timeout: float) -> int | None:
        """The exit code of the driver; None when it had to be stopped. What it left in its group is ended."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({**job, "script": str(self._kind.script)}).encode() + b"\n")
        self._process.stdin.flush()
        pid = self._next(START_PATIENCE)["pid"]
        try:
            return self._next(timeout)["code"]
        except queue.Empty:
            end_group(pid)
            self._next(START_PATIENCE)
            return None
        finally:
            end_group(pid)

    def _next(self, timeout: float) -> dict[str, int]:
        row = self._told.get(timeout=timeout)
        if row is None:
            raise NurseryBrokenError(self._kind)
        return row

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(START_PATIENCE)
        self._reader.join(START_PATIENCE)
        self._process.stdout.close()


class Nurseries:
    """As many nurseries of each kind as drivers run at the same time; they stay until `close`."""

    def __init__(self) -> None:
        self._idle: dict[Kind, list[Nursery]] = {}
        self._lock = threading.Lock()

    def run(self, kind: Kind, job: dict[str, Any], environment: dict[str, str], timeout: float) -> int | None:
        """Play `job` in a nursery of this kind; `environment` is that of the imports."""
        with self._lock:
            idle = self._idle.setdefault(kind, [])
            nursery = idle.pop() if idle else None
        nursery = nursery or Nursery(kind, environment)
        code = nursery.run(job, timeout)
        with self._lock:
            idle.append(nursery)
        return code

    def close(self) -> None:
        """End all nurseries. None of them runs a driver any more."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()


def started(command: list[str], job: dict[str, Any], timeout: float) -> int | None:
    """The exit code of a driver that is started from nothing; None when it had to be stopped."""
    with Path(job["stderr"]).open("wb") as complaints:
        driver = subprocess.Popen(
            command,
            cwd=job["cwd"],
            env=job["env"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            start_new_session=True,
        )
    try:
        return driver.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end_group(driver.pid)
        driver.wait(START_PATIENCE)


def end_group(leader: int) -> None:
    """Kill what a driver left in its process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
