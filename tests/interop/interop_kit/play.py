"""Plays a scenario in one cell: fresh folders, a bare environment, a model server on loopback, nothing left behind."""

import base64
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from interop_kit.cells import Cell
from interop_kit.far_server import FarServer
from interop_kit.model import Model
from interop_kit.nursery import DRIVERS, Ended
from interop_kit.observation import Observation, Row, RunSeen, json_lines, transcripts, tree
from interop_kit.peers import Peers
from interop_kit.scenario import WEB, Scenario, placed
from interop_kit.web import Web

RUN_PATIENCE = 60.0
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def play(scenario: Scenario, cell: Cell, peers: Peers, folder: Path) -> Observation:
    """Play every run of `scenario` in `folder`, which must be new."""
    started = time.monotonic()
    web = Web(scenario.web) if scenario.web else None
    stage = Stage(scenario, cell, peers, folder, web.url if web else WEB)
    stage.lay_out()
    model = Model(stage.placed(scenario.model), folder / "gates")
    seen = Observation(project=stage.project, home=stage.home)
    with contextlib.closing(model), contextlib.ExitStack() as stack:
        if web:
            stack.enter_context(contextlib.closing(web))
        model.start()
        if scenario.far:
            stage.around = stack.enter_context(contextlib.closing(FarServer())).environment
        for index, run in enumerate(scenario.runs):
            seen.runs.append(stage.play_run(index, run, model.url))
            seen.transcripts = transcripts(stage.home, seen.transcripts)
        seen.requests = model.requests()
        seen.web = web.asked if web else []
    seen.files = tree(stage.project)
    seen.seconds = time.monotonic() - started
    return seen


class Stage:
    """The folders of one cell and what is started in them."""

    def __init__(self, scenario: Scenario, cell: Cell, peers: Peers, folder: Path, web: str) -> None:
        self._scenario = scenario
        self._cell = cell
        self._peers = peers
        self._folder = folder
        self._web = web
        self.project = folder / "project"
        self.home = folder / "home"
        self.around: dict[str, str | None] = {}
        """Variables that say what else is there."""

    def lay_out(self) -> None:
        for path in (self.project, self.home, self._folder / "tmp"):
            path.mkdir(parents=True)
        self._fill()

    def placed(self, value: Any) -> Any:
        """`value` with what is real in this cell in place of the stand-ins."""
        return placed(value, self.project, self.home, self._web)

    def _launcher(self, run: Row) -> Path:
        """The executable that starts the agent of a run."""
        cell = self._cell.reference if run.get("established") else self._cell
        name, command = (
            ("our-agent" if cell.our_agent else "established-agent"),
            cell.agent_command(self._peers),
        )
        if "agent_script" in run:
            name, command = (
                f"agent-{run['agent_script']}",
                [sys.executable, str(self.project / run["agent_script"])],
            )
        path = self._folder / name
        if not path.exists():
            text = (DRIVERS / "launcher.py").read_text().replace('["@COMMAND@"]', json.dumps(command))
            path.write_text(f"#!{shutil.which('python3', path=SYSTEM_PATH)} -IS\n{text}")
            path.chmod(0o755)
        return path

    def _fill(self) -> None:
        for base, files in ((self.project, self._scenario.files), (self.home, self._scenario.home_files)):
            for name, text in files.items():
                write(base / name, self.placed(text).encode())
        for name, data in self._scenario.files_b64.items():
            write(self.project / name, base64.b64decode(data))

    def play_run(self, index: int, run: Row, url: str) -> RunSeen:
        """Start the driver on one run and wait for it, not longer than it may take."""
        run = self.placed(run)
        if run.get("reset"):
            shutil.rmtree(self.project)
            self.project.mkdir()
            self._fill()
        events, processes = self._folder / f"events{index}.jsonl", self._folder / f"processes{index}.jsonl"
        spec = {
            **run,
            "module": self._cell.driver_module,
            "agent": str(self._launcher(run)),
            "project": str(self.project),
            "events": str(events),
            "processes": str(processes),
            "state": str(self._folder / "store.json"),
            "gates": str(self._folder / "gates"),
            "url": url,
        }
        spec_path = self._folder / f"run{index}.json"
        spec_path.write_text(json.dumps(spec))
        environment = self._environment(run, url) | {"INTEROP_PROCESSES": str(processes)}
        ended, stderr = self._drive(str(spec_path), environment, run.get("limit", RUN_PATIENCE))
        rows = json_lines(processes)
        end_left_over(rows)
        return RunSeen(json_lines(events), rows, ended.code, stderr, ended.cpu)

    def _environment(self, run: Row, url: str) -> dict[str, str]:
        """Nothing of ours: what a bare login would have, the key of the scripted model, and the scenario's wishes."""
        bare: dict[str, str | None] = {
            "HOME": str(self.home),
            "PATH": SYSTEM_PATH,
            "LANG": "C.UTF-8",
            "TMPDIR": str(self._folder / "tmp"),
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        wishes = {**self._scenario.env, **run.get("env", {})}
        merged = {**bare, **self.around, **self.placed(wishes)}
        return {name: value for name, value in merged.items() if value is not None}

    def _drive(self, spec: str, environment: dict[str, str], timeout: float) -> tuple[Ended, str]:
        """How the driver ended, and what it wrote to stderr."""
        complaints = self._folder / "driver.stderr"
        job = {"arguments": [spec], "cwd": str(self.project), "env": environment, "stderr": str(complaints)}
        bare = {name: environment[name] for name in ("PATH", "LANG")}
        ended = self._peers.nurseries.run(self._cell.driver_kind(self._peers), job, bare, timeout)
        return ended, complaints.read_text(errors="replace") if complaints.exists() else ""


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if path.suffix == ".sh":
        path.chmod(0o755)


def end_left_over(processes: list[Row]) -> None:
    """Kill agents that outlived their SDK, and mark their rows."""
    ended = {row["pid"] for row in processes if "code" in row}
    for row in processes:
        if row["pid"] in ended:
            continue
        try:
            os.kill(row["pid"], signal.SIGKILL)
            row["left_over"] = True
        except ProcessLookupError:
            row["left_over"] = False
