"""Plays a scenario in all its cells and holds each against its reference; prints what came out as a table."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from interop_kit.cells import Cell, cells_of
from interop_kit.compare import differences
from interop_kit.normalise import Record, normalised
from interop_kit.observation import Observation
from interop_kit.peers import Peers
from interop_kit.play import play
from interop_kit.scenario import Scenario


@dataclass
class Outcome:
    """What became of one cell."""

    cell: Cell
    record: Record
    seconds: float
    failures: list[str] = field(default_factory=list)
    """Why the cell says nothing: a driver that broke down or had to be stopped."""
    differences: list[str] = field(default_factory=list)

    @property
    def word(self) -> str:
        return "failed" if self.failures else "different" if self.differences else "equal"


def outcomes(scenario: Scenario, peers: Peers, *, wanted: Iterable[str] = ()) -> Iterator[Outcome]:
    """Each cell of the scenario, references first; `wanted` names the cells, all of them when it is empty."""
    wanted = set(wanted)
    references: dict[Cell, Outcome] = {}
    for cell in cells_of(scenario):
        is_reference = cell == cell.reference
        if wanted and not is_reference and cell.name not in wanted:
            continue
        outcome = played(scenario, cell, peers)
        if is_reference:
            references[cell] = outcome
        else:
            outcome.differences = differences(references[cell.reference].record, outcome.record)
        yield outcome


def played(scenario: Scenario, cell: Cell, peers: Peers) -> Outcome:
    """One cell in a folder of its own, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="interop-"))
    try:
        seen = play(scenario, cell, peers, folder / "cell")
        return Outcome(cell, normalised(seen, scenario), seen.seconds, failures_of(seen))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def failures_of(seen: Observation) -> list[str]:
    """Drivers that did not end by themselves, or ended badly, and what they waited for in vain."""
    failures = []
    for index, run in enumerate(seen.runs):
        if run.driver_code is None:
            failures.append(f"run {index}: the driver had to be stopped")
        elif run.driver_code:
            failures.append(f"run {index}: the driver broke down: {run.stderr.strip()[-300:]}")
        waited = [event["waited"]["for"] for event in run.events if event["kind"] == "waited"]
        failures += [f"run {index}: waited in vain for {what}" for what in waited]
    return failures


def table(rows: dict[str, dict[str, str]]) -> str:
    """Scenarios down, cells across."""
    columns = list(dict.fromkeys(cell for row in rows.values() for cell in row))
    width = max((len(name) for name in rows), default=8)
    lines = [" ".join([" " * width, *(f"{column:>16}" for column in columns)])]
    for name, row in rows.items():
        lines.append(" ".join([f"{name:<{width}}", *(f"{row.get(column, '-'):>16}" for column in columns)]))
    counts = [f"{word} {sum(w == word for row in rows.values() for w in row.values())}" for word in WORDS]
    return "\n".join([*lines, ", ".join(counts)])


WORDS = ("equal", "different", "failed")
