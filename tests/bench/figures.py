"""Where the two sides are, and the table of what was measured."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


class Peers:
    """The interpreters and executables of both sides."""

    def __init__(self, folder: str | None) -> None:
        if not folder:
            sys.exit(
                "CLAUDE_WRAPPER_PEERS must name the folder with the official SDKs (see scripts/test --all)."
            )
        self.ours = sys.executable
        self.official = str(Path(folder) / "pyenv" / "bin" / "python")
        self.our_agent = [sys.executable, "-P", "-m", "claude_wrapper.agent"]
        self._frozen = Path(os.environ.get("CLAUDE_WRAPPER_FROZEN") or "dist/agent/claude-agent/claude-agent")
        bundled = "lib/python*/site-packages/claude_agent_sdk/_bundled/claude"
        self.official_agent = [str(next((Path(folder) / "pyenv").glob(bundled)))]

    @property
    def frozen_agent(self) -> list[str]:
        """The executable that scripts/build_agent.py has made; CLAUDE_WRAPPER_FROZEN names another."""
        if not self._frozen.is_file():
            sys.exit(f"There is no frozen agent at {self._frozen}; build it with scripts/build_agent.py.")
        return [str(self._frozen.resolve())]


class Table:
    """Prints a row a measure: ours, the official figure, the ratio and the goal."""

    def __init__(self) -> None:
        self.reached = True
        print(f"{'measure':34}{'ours':>14}{'official':>14}{'ratio':>9}   goal")

    def row(
        self, name: str, ours: float, official: float, unit: str, goal: float, *, more_is_better: bool
    ) -> None:
        """`goal` is the least ours/official where more is better, the greatest where less is."""
        ratio = ours / official
        met = ratio >= goal if more_is_better else ratio <= goal
        self.reached = self.reached and met
        sign = ">=" if more_is_better else "<="
        verdict = "reached" if met else "MISSED"
        print(
            f"{name:34}{_number(ours, unit):>14}{_number(official, unit):>14}{ratio:>9.3f}   {sign} {goal:g} {verdict}"
        )
        sys.stdout.flush()


def best(runs: int, *measures: Callable[[], float], most: bool) -> list[float]:
    """Take the measures in turn, `runs` times each, and return the best of each."""
    taken: list[list[float]] = [[] for _ in measures]
    for _ in range(runs):
        for values, measure in zip(taken, measures, strict=True):
            values.append(measure())
    return [max(values) if most else min(values) for values in taken]


def output_of(command: list[str], **options: object) -> str:
    """Run a program and return what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{command} failed:\n{done.stderr[-2000:]}")
    return str(done.stdout)


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.2f} {unit}"
