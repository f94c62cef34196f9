"""Plays a scenario in all its cells and holds each against its reference; prints what came out as a table."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from interop_kit.cells import Cell, cells_of
from interop_kit.compare import differences
from interop_kit.kept import Kept, kept
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
    cpu: float = 0.0
    """Seconds of the processor that the driver took, and all that it started."""
    agents_cpu: float = 0.0
    """The part of them that went into agents."""
    failures: list[str] = field(default_factory=list)
    """Why the cell says nothing: a driver that broke down or had to be stopped."""
    differences: list[str] = field(default_factory=list)
    """What nobody has declared."""
    declared: list[str] = field(default_factory=list)
    """Differences on purpose."""
    open: str = ""
    """The missing feature that explains what is wrong here."""

    @property
    def word(self) -> str:
        if self.failures or self.differences:
            return "open" if self.open else "failed" if self.failures else "different"
        return "declared" if self.declared else "equal"

    @property
    def wrong(self) -> list[str]:
        """Why this cell is not equal, line by line."""
        lines = self.failures + self.differences
        return lines[:MOST] + ([f"... and {len(lines) - MOST} more"] if len(lines) > MOST else [])


def outcomes(
    scenario: Scenario, peers: Peers, *, pool: Executor, wanted: Iterable[str] = ()
) -> Iterator[Outcome]:
    """Each cell of the scenario, references first; `wanted` names the cells, all of them when it is empty."""
    return judged(scenario, begun(scenario, peers, pool=pool, wanted=wanted))


def begun(
    scenario: Scenario, peers: Peers, *, pool: Executor, wanted: Iterable[str] = ()
) -> list[Future[Outcome]]:
    """Plays that are under way in `pool`, in the order of the cells."""
    wanted = set(wanted)
    cells = [
        cell for cell in cells_of(scenario) if not wanted or cell == cell.reference or cell.name in wanted
    ]
    return [pool.submit(played, scenario, cell, peers) for cell in cells]


def judged(scenario: Scenario, plays: Iterable[Future[Outcome]]) -> Iterator[Outcome]:
    """Each play that is no reference, held against its reference."""
    references: dict[Cell, Outcome] = {}
    for future in plays:
        outcome = future.result()
        if outcome.cell == outcome.cell.reference:
            references[outcome.cell] = outcome
            yield outcome
        else:
            yield compared(scenario, outcome, references[outcome.cell.reference])


def compared(scenario: Scenario, outcome: Outcome, reference: Outcome) -> Outcome:
    """`outcome` with what makes it differ from `reference`."""
    found = replace(outcome, differences=[], declared=[])
    judge(found, differences(reference.record, found.record), scenario)
    return found


def judge(outcome: Outcome, lines: list[str], scenario: Scenario) -> None:
    """Tell differences on purpose from the others."""
    patterns = [*scenario.differs, *scenario.may_differ]
    for line in lines:
        on_purpose = any(fnmatchcase(f"{outcome.cell.name}: {line}", pattern) for pattern in patterns)
        (outcome.declared if on_purpose else outcome.differences).append(line)
    outcome.open = scenario.open


def undeclared(scenario: Scenario, found: Iterable[Outcome]) -> list[str]:
    """Declarations that explain nothing any more; those of differences that only may appear are none."""
    lines = [f"{outcome.cell.name}: {line}" for outcome in found for line in outcome.declared]
    return [pattern for pattern in scenario.differs if not any(fnmatchcase(line, pattern) for line in lines)]


def played(scenario: Scenario, cell: Cell, peers: Peers) -> Outcome:
    """One cell; a reference may come from a play that was kept."""
    store = kept() if cell == cell.reference else Kept(None)
    record = store.read(scenario.name, cell.name)
    if record is not None:
        return Outcome(cell, record, 0.0)
    outcome = played_now(scenario, cell, peers)
    if not outcome.failures:
        store.write(scenario.name, cell.name, outcome.record)
    return outcome


def played_now(scenario: Scenario, cell: Cell, peers: Peers) -> Outcome:
    """One cell in a folder of its own, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="interop-"))
    try:
        seen = play(scenario, cell, peers, folder / "cell")
        outcome = Outcome(cell, normalised(seen, scenario), seen.seconds)
        outcome.cpu = sum(run.cpu for run in seen.runs)
        outcome.agents_cpu = sum(run.agents_cpu for run in seen.runs)
        outcome.failures = failures_of(seen)
        return outcome
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
    return "\n".join([*lines, ", ".join(counts), summary(rows)])


def summary(rows: dict[str, dict[str, str]]) -> str:
    """How many scenarios are equal in all cells, and how many are not, by the worst of their cells."""
    worst = Counter(max(row.values(), key=WORDS.index) for row in rows.values() if row)
    told = ("equal in all cells", "declared differences", "open", "different", "failed")
    counts = [f"{worst[word]} {name}" for word, name in zip(WORDS, told, strict=True)]
    return f"{len(rows)} scenarios: {', '.join(counts)}"


MOST = 12
WORDS = ("equal", "declared", "open", "different", "failed")
