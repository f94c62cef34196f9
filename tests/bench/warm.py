"""From the prompt to the first message: an agent that was started ahead, against a cold start."""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path

from figures import Peers, Table, best, output_of

from claude_wrapper.testing import ModelProcess, say

_COLD = """
import asyncio, sys, time
import claude_agent_sdk as sdk

async def main():
    options = sdk.ClaudeAgentOptions(cli_path=sys.argv[1] if sys.argv[1:] else None)
    started = time.perf_counter()
    async for message in sdk.query(prompt="go", options=options):
        print((time.perf_counter() - started) * 1000)
        break

asyncio.run(main())
"""

_WARM = """
import asyncio, sys, time
import claude_wrapper as sdk

async def main():
    options = sdk.ClaudeAgentOptions(cli_path=sys.argv[1] if sys.argv[1:] else None)
    async with await sdk.startup(options) as warm:
        await asyncio.sleep(1)
        started = time.perf_counter()
        async for message in warm.query("go"):
            print((time.perf_counter() - started) * 1000)
            break

asyncio.run(main())
"""


def warm(table: Table, peers: Peers, runs: int) -> None:
    """Milliseconds to the first message, each library with its own agent."""
    with ModelProcess([say("ok")] * (4 * runs)) as model:
        ours, official = best(
            runs,
            partial(_first_message, model.url, [peers.ours, "-c", _WARM]),
            partial(_first_message, model.url, [peers.official, "-c", _COLD]),
            most=False,
        )
    table.row("warm: prompt to first message", ours, official, "ms", 1 / 10, more_is_better=False)


def _first_message(url: str, command: list[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "home").mkdir()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(Path(folder) / "home"),
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        return float(output_of(command, cwd=folder, env=environment))
