"""Measures ours beside the official programs, in one run, and prints ratios.

usage: python tests/bench [NAME ...] [--runs N]

The official programs are found by CLAUDE_WRAPPER_PEERS, as in tests/interop. Names: see MEASURES.
Each figure is the best of N runs, taken in turn: noise of the machine only ever makes things slower.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import agents
import decisions
import libraries
import warm
from figures import Peers, Table

MEASURES = {
    "import": libraries.importing,
    "deltas": libraries.deltas,
    "turns": libraries.turns,
    "big": libraries.big,
    "warm": warm.warm,
    "decisions": decisions.decisions,
    "start": agents.start,
    "turn": agents.turn,
    "memory": agents.memory,
    "frozen": agents.frozen,
}
_UNLESS_NAMED = {"frozen"}
"""Measures that need something built first."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[[], *MEASURES], metavar="NAME")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    peers = Peers(os.environ.get("CLAUDE_WRAPPER_PEERS"))
    table = Table()
    for name in arguments.names or [name for name in MEASURES if name not in _UNLESS_NAMED]:
        MEASURES[name](table, peers, arguments.runs)
    return 0 if table.reached else 1


sys.exit(main())
