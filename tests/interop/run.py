# ruff: noqa: T201  # a program for people prints
"""Plays scenarios by hand and prints where the cells differ.

tests/interop/run.py [NAME...] [--cell CELL...] [--twice] [--show] [--jobs N] [--slowest N]
tests/interop/run.py --list
tests/interop/run.py --install FOLDER

CLAUDE_WRAPPER_PEERS names the folder that --install filled. --twice plays only the reference cells, twice each, and
compares them with themselves. --show prints the normalised record of the cells, too. --jobs says how many cells play
at the same time; without it, as many as keep the processors at work. --slowest prints that many cells, what they took
by the clock and of the processor. CLAUDE_WRAPPER_REFERENCES may name a folder in which plays of the
official pairs are kept from run to run, as long as neither they nor the scenario nor this suite change.
"""

import argparse
import contextlib
import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from pathlib import Path

from interop_kit import scenario
from interop_kit.cells import cells_of
from interop_kit.checked import ScenarioError
from interop_kit.crowd import Crowd
from interop_kit.matrix import Outcome, begun, compared, judged, played, table, undeclared
from interop_kit.peers import PINS, VARIABLE, Peers, PeersMissingError, find_peers, install


def main() -> int:
    arguments = parsed()
    if arguments.install:
        install(arguments.install)
        return 0
    if arguments.list:
        print("\n".join(scenario.names()))
        return 0
    try:
        loaded = {name: scenario.load(name) for name in arguments.names or scenario.names()}
        check_cells(arguments.cell, loaded)
        peers = find_peers()
    except (ScenarioError, PeersMissingError) as error:
        print(error)
        return 2
    if peers is None:
        print(f"{VARIABLE} names no folder with the official SDKs; run.py --install FOLDER fills one")
        return 2
    with contextlib.closing(peers.nurseries), Crowd(arguments.jobs) as pool:
        return 1 - all_right(arguments, loaded, peers, pool)


def check_cells(wanted: list[str], loaded: dict[str, scenario.Scenario]) -> None:
    """Refuse names of cells that none of the scenarios has."""
    there = list(dict.fromkeys(cell.name for each in loaded.values() for cell in cells_of(each)))
    for name in wanted:
        if name not in there:
            raise ScenarioError(f"no cell of these scenarios is called {name}; there are {', '.join(there)}")


def all_right(
    arguments: argparse.Namespace, loaded: dict[str, scenario.Scenario], peers: Peers, pool: Executor
) -> bool:
    """Play, tell, and sum up; whether nothing is wrong."""
    started = time.monotonic()
    # Those of many runs first, so that none of them is left alone at the end.
    order = sorted(loaded, key=lambda name: -len(loaded[name].runs))
    plays = {name: one(loaded[name], peers, arguments, pool) for name in order}
    rows: dict[str, dict[str, str]] = {}
    missing: dict[str, list[str]] = {}
    stale: list[str] = []
    every: list[tuple[str, Outcome]] = []
    for name, each in loaded.items():
        found = list(plays[name]())
        rows[name] = {outcome.cell.name: outcome.word for outcome in found}
        every += [(name, outcome) for outcome in found]
        if any(outcome.word == "open" for outcome in found):
            missing.setdefault(each.open, []).append(name)
        elif not arguments.twice and not arguments.cell:
            stale += [f"{name}: declared, but equal: {pattern}" for pattern in undeclared(each, found)]
        for outcome in found:
            tell(name, outcome, show=arguments.show)
    for reason, scenarios in sorted(missing.items()):
        print(f"open, {reason}: {', '.join(scenarios)}")
    print(table(rows))
    for name, outcome in sorted(every, key=lambda pair: -pair[1].seconds)[: arguments.slowest]:
        print(f"{outcome.seconds:6.1f} s, processor {outcome.cpu:5.2f} s  {name} {outcome.cell.name}")
    print("\n".join([*stale, pins(), cost([outcome for _, outcome in every], time.monotonic() - started)]))
    return not stale and not any(
        word in ("different", "failed") for row in rows.values() for word in row.values()
    )


def cost(every: list[Outcome], seconds: float) -> str:
    """What the plays took, by the clock and of the processor, and who took it."""
    by = {
        "established agents": sum(outcome.agents_cpu for outcome in every if not outcome.cell.our_agent),
        "our agents": sum(outcome.agents_cpu for outcome in every if outcome.cell.our_agent),
        "drivers": sum(outcome.cpu - outcome.agents_cpu for outcome in every),
        "the suite": time.process_time(),
    }
    told = ", ".join(f"{name} {used:.0f} s" for name, used in by.items())
    return f"{seconds:.0f} s by the clock, {sum(by.values()):.0f} s of the processor ({told})"


def pins() -> str:
    """The versions of the official programs."""
    return ", ".join(
        f"{name} {version}" for kind in ("python", "npm") for name, version in PINS[kind].items()
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--cell", action="append", default=[])
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--slowest", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="print the names of all scenarios")
    parser.add_argument("--install", type=Path, metavar="FOLDER")
    return parser.parse_args()


def one(
    loaded: scenario.Scenario, peers: Peers, arguments: argparse.Namespace, pool: Executor
) -> Callable[[], Iterable[Outcome]]:
    """All cells of one scenario, or its references twice: under way now, and held against each other later."""
    if not arguments.twice:
        plays = begun(loaded, peers, pool=pool, wanted=arguments.cell)
        return lambda: judged(loaded, plays)
    cells = [cell for cell in cells_of(loaded) if cell == cell.reference]
    pairs = [[pool.submit(played, loaded, cell, peers) for _ in range(2)] for cell in cells]
    return lambda: [compared(loaded, second.result(), first.result()) for first, second in pairs]


def tell(name: str, outcome: Outcome, *, show: bool) -> None:
    lines = outcome.wrong + [f"on purpose: {line}" for line in outcome.declared]
    if lines or show:
        print(f"{name} {outcome.cell.name}: {outcome.word} ({outcome.seconds:.1f} s)")
    for line in lines:
        print(f"    {line}")
    for section, value in outcome.record.items() if show else ():
        print(f"    {section}")
        for row in value if isinstance(value, list) else [value]:
            for part in row if isinstance(row, list) else [row]:
                print(f"        {json.dumps(part, ensure_ascii=False)}")


raise SystemExit(main())
