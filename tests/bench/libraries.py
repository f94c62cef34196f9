"""The libraries: import, and messages a second from an agent that writes as fast as the pipe takes."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from figures import Peers, Table, best, output_of

from claude_wrapper.testing import ScriptedAgent, floods

_IMPORT = """
import resource, sys, time
started = time.perf_counter()
import {module}
{module}.query, {module}.ClaudeAgentOptions, {module}.ResultMessage
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, len(sys.modules))
"""

_DRIVE = """
import asyncio, sys, time
import {module} as sdk

async def main():
    count, first = 0, None
    options = sdk.ClaudeAgentOptions(cli_path=sys.argv[1], max_buffer_size=1 << 30, include_partial_messages=True)
    async for message in sdk.query(prompt="go", options=options):
        if first is None:
            first = time.perf_counter()
        count += 1
    print(count / (time.perf_counter() - first), count)

asyncio.run(main())
"""


def importing(table: Table, peers: Peers, runs: int) -> None:
    """Importing the package and using the first names."""
    sides = [(peers.ours, "claude_wrapper"), (peers.official, "claude_agent_sdk")]
    for title, column, unit, goal in (
        ("import, seconds", 0, "s", 1 / 8),
        ("import, memory of the process", 1, "MB", 25 / 69),
        ("import, modules loaded", 2, "", 1.0),
    ):
        ours, official = best(runs, *(partial(_import_figure, *side, column) for side in sides), most=False)
        table.row(title, ours, official, unit, goal, more_is_better=False)


def _import_figure(python: str, module: str, column: int) -> float:
    return float(output_of([python, "-c", _IMPORT.format(module=module)]).split()[column])


def deltas(table: Table, peers: Peers, runs: int) -> None:
    """Text deltas."""
    _flood(table, peers, runs, ("100,000 text deltas", 8), lambda: floods.deltas(100_000))


def turns(table: Table, peers: Peers, runs: int) -> None:
    """Tool calls and their results."""
    _flood(table, peers, runs, ("30,000 tool turns", 5), lambda: floods.tool_turns(30_000))


def big(table: Table, peers: Peers, runs: int) -> None:
    """Large frames."""
    _flood(table, peers, runs, ("100 frames of 1.2 MB", 1.5), lambda: floods.big_frames(100))


def _flood(
    table: Table, peers: Peers, runs: int, title: tuple[str, float], lines: Callable[[], Iterator[bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        agent = ScriptedAgent(Path(folder), life=300).begin().flood(lines()).result("done")
        measure = partial(_messages_per_second, agent.path)
        ours, official = best(
            runs,
            partial(measure, peers.ours, "claude_wrapper"),
            partial(measure, peers.official, "claude_agent_sdk"),
            most=True,
        )
    table.row(title[0], ours, official, "msg/s", title[1], more_is_better=True)


def _messages_per_second(agent: Path, python: str, module: str) -> float:
    printed = output_of([python, "-W", "ignore", "-c", _DRIVE.format(module=module), str(agent)])
    rate, count = printed.split()
    if int(count) < 100:
        sys.exit(f"{module} gave only {count} messages")
    return float(rate)
