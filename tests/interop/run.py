# ruff: noqa: T201  # a program for people prints
"""Plays scenarios by hand and prints where the cells differ.

tests/interop/run.py [NAME...] [--cell CELL...] [--twice] [--show] [--jobs N]
tests/interop/run.py --install FOLDER

CLAUDE_WRAPPER_PEERS names the folder that --install filled. --twice plays only the reference cells, twice each, and
compares them with themselves. --show prints the normalised record of the cells instead of comparing them.
"""

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from interop_kit import scenario
from interop_kit.cells import cells_of
from interop_kit.compare import differences
from interop_kit.matrix import Outcome, outcomes, played, table
from interop_kit.peers import VARIABLE, Peers, find_peers, install


def main() -> int:
    arguments = parsed()
    if arguments.install:
        install(arguments.install)
        return 0
    peers = find_peers()
    if peers is None:
        print(f"{VARIABLE} is not set")
        return 2
    names = arguments.names or scenario.names()
    rows: dict[str, dict[str, str]] = {}
    missing: dict[str, list[str]] = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for name, found in zip(names, pool.map(lambda name: one(name, peers, arguments), names), strict=True):
            rows[name] = {outcome.cell.name: outcome.word for outcome in found}
            if any(outcome.word == "open" for outcome in found):
                missing.setdefault(scenario.load(name).open, []).append(name)
            for outcome in found:
                tell(name, outcome, show=arguments.show)
    for reason, scenarios in sorted(missing.items()):
        print(f"open, {reason}: {', '.join(scenarios)}")
    print(table(rows))
    return int(any(word in ("different", "failed") for row in rows.values() for word in row.values()))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--cell", action="append", default=[])
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--install", type=Path, metavar="FOLDER")
    return parser.parse_args()


def one(name: str, peers: Peers, arguments: argparse.Namespace) -> list[Outcome]:
    """All cells of one scenario, or its references twice."""
    loaded = scenario.load(name)
    if not arguments.twice:
        return list(outcomes(loaded, peers, wanted=arguments.cell))
    again = []
    for cell in cells_of(loaded):
        if cell == cell.reference:
            first, second = played(loaded, cell, peers), played(loaded, cell, peers)
            second.differences = differences(first.record, second.record)
            again.append(second)
    return again


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
