"""A program that runs many queries, in a row or at once, and says what it has held before and after."""

import asyncio
import gc
import json
import sys
import tempfile
import threading
from pathlib import Path

import anyio

from claude_wrapper import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server, query, tool
from claude_wrapper.testing import ScriptedAgent


@tool("add", "Adds", {"a": int})
async def add(_arguments):
    return {"content": [{"type": "text", "text": "1"}]}


async def hook(_input, _use, _context):
    return {}


def held():
    """What a program has that grows when something is forgotten."""
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    children = [task.read_text() for task in Path("/proc/self/task").glob("*/children")]
    trio = sys.modules.get("trio")
    in_trio = trio is not None and anyio.get_cancelled_exc_class() is trio.Cancelled
    return {
        "kilobytes": int(status["VmRSS"].split()[0]),
        "objects": len(gc.get_objects()),
        "blocks": sys.getallocatedblocks(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "children": len("".join(children).split()),
        "tasks": trio.lowlevel.current_statistics().tasks_living if in_trio else len(asyncio.all_tasks()),
    }


async def one(agent):
    options = ClaudeAgentOptions(
        cli_path=agent.path,
        hooks={"PreToolUse": [HookMatcher(hooks=[hook])]},
        mcp_servers={"sums": create_sdk_mcp_server("sums", tools=[add])},
    )
    results = [m.result async for m in query(prompt="go", options=options) if hasattr(m, "result")]
    assert results == ["done"], results


async def many(agent, count, at_once):
    limiter = anyio.CapacityLimiter(at_once)

    async def limited():
        async with limiter:
            await one(agent)

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(limited)


async def main(agent, count, at_once):
    # What is loaded, cached and allocated once is there after some runs.
    await many(agent, max(20, at_once), at_once)
    before = held()
    await many(agent, count, at_once)
    return {"before": before, "after": held()}


if __name__ == "__main__":
    backend, count, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder, ScriptedAgent(folder) as agent:
        agent.begin().say("hi").result("done").wait("eof")
        json.dump(anyio.run(main, agent, count, at_once, backend=backend), sys.stdout)
