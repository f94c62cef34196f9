"""The agents: from spawn to the init frame, one Read turn, memory after a hundred turns."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
from figures import Peers, Table, best

from claude_wrapper.testing import ModelProcess, call, say

_TURNS = 100
_FLAGS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
_MODEL = ["--model", "claude-sonnet-4-5", "--allowedTools", "Read"]
_INITIALIZE = {
    "type": "control_request",
    "request_id": "1",
    "request": {"subtype": "initialize", "hooks": None},
}


def start(table: Table, peers: Peers, runs: int) -> None:
    """Seconds from starting the process to its init frame, the prompt being there at once."""
    with ModelProcess([say("ok")]) as model:
        measures = [
            partial(_start, command, model.url) for command in (peers.our_agent, peers.official_agent)
        ]
        ours, official = best(max(runs, 10), *measures, most=False)
    table.row("spawn to init frame", ours * 1000, official * 1000, "ms", 1 / 2, more_is_better=False)


def turn(table: Table, peers: Peers, runs: int) -> None:
    """Milliseconds for one turn that reads a file: a request, a Read, its result."""
    ours, official = best(runs, *_hundred_turns(peers, 0), most=False)
    table.row("one Read turn", ours, official, "ms", 1 / 4, more_is_better=False)


def memory(table: Table, peers: Peers, runs: int) -> None:
    """Resident memory of the agent's processes after a hundred Read turns."""
    ours, official = best(min(runs, 2), *_hundred_turns(peers, 1), most=False)
    table.row(f"memory after {_TURNS} turns", ours, official, "MB", 1 / 5, more_is_better=False)


def frozen(table: Table, peers: Peers, runs: int) -> None:
    """The agent as wheels bring it: its start, its memory after a hundred Read turns, the megabytes it takes."""
    ours = peers.frozen_agent
    with ModelProcess([say("ok")]) as model:
        both = [partial(_start, command, model.url) for command in (ours, peers.official_agent)]
        start_of_ours, start_of_official = best(max(runs, 10), *both, most=False)
    table.row(
        "frozen: spawn to init frame",
        start_of_ours * 1000,
        start_of_official * 1000,
        "ms",
        1 / 2,
        more_is_better=False,
    )
    both = [partial(_read_turns, command, 1) for command in (ours, peers.official_agent)]
    table.row(
        f"frozen: memory, {_TURNS} turns", *best(1, *both, most=False), "MB", 1 / 5, more_is_better=False
    )
    sizes = [_megabytes(Path(command[0]).parent) for command in (ours, peers.official_agent)]
    table.row("frozen: size of the agent", *sizes, "MB", 60 / 402, more_is_better=False)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _hundred_turns(peers: Peers, figure: int) -> list[partial[float]]:
    return [partial(_read_turns, command, figure) for command in (peers.our_agent, peers.official_agent)]


def _start(command: list[str], url: str) -> float:
    with _project() as folder:
        started = time.perf_counter()
        with _agent(command, folder, url) as agent:
            _say(agent, "go")
            _until(agent, "init")
            return time.perf_counter() - started


def _read_turns(command: list[str], figure: int) -> float:
    with _project() as folder:
        reads = [call("Read", file_path=str(folder / "a.txt")) for _ in range(_TURNS)]
        with ModelProcess([*reads, say("done")]) as model, _agent(command, folder, model.url) as agent:
            _say(agent, "go")
            _until(agent, "init")
            started = time.perf_counter()
            _until(agent, "success")
            spent = (time.perf_counter() - started) * 1000 / _TURNS
            return [spent, _resident(agent.pid)][figure]


@contextlib.contextmanager
def _project() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "home").mkdir()
        (folder / "a.txt").write_text("alpha\nbeta\n" * 20)
        yield folder


@contextlib.contextmanager
def _agent(command: list[str], folder: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    agent = subprocess.Popen(
        [*command, *_FLAGS, *_MODEL],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
    )
    try:
        yield agent
    finally:
        agent.kill()
        agent.communicate()


def _say(agent: subprocess.Popen[bytes], text: str) -> None:
    assert agent.stdin is not None
    prompt = {"type": "user", "message": {"role": "user", "content": text}}
    agent.stdin.write(b"".join(msgspec.json.encode(frame) + b"\n" for frame in (_INITIALIZE, prompt)))
    agent.stdin.flush()


def _until(agent: subprocess.Popen[bytes], subtype: str) -> None:
    assert agent.stdout is not None
    for line in agent.stdout:
        frame = msgspec.json.decode(line)
        if frame.get("subtype") == subtype:
            return
        if frame.get("type") == "result":
            break
    raise SystemExit(f"{agent.args} never sent {subtype}")


def _resident(pid: int) -> float:
    """Megabytes of a process and its children."""
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,rss="], capture_output=True, text=True, check=True)
    rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    family, size = {pid}, 0
    while True:
        more = {p for p, parent, _ in rows if parent in family and p not in family}
        if not more:
            break
        family |= more
    for p, _, rss in rows:
        size += rss if p in family else 0
    return size / 1024
