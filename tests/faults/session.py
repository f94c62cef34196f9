"""One session with hooks, a permission and an in-process tool, played by an agent that fails at any frame."""

import asyncio
import gc
import itertools
import json
import logging
import sys
import tempfile
import threading
from pathlib import Path

import anyio

from claude_wrapper import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    create_sdk_mcp_server,
    query,
    tool,
)
from claude_wrapper.testing import ScriptedAgent
from claude_wrapper.testing.agent_frames import assistant
from claude_wrapper.testing.agent_run import process_state

TOOL = "mcp__calculator__add"
NUMBERS = {"a": 1, "b": 2}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": NUMBERS}}
USE = {"type": "tool_use", "id": "use", "name": TOOL, "input": NUMBERS}
GOT = {"type": "tool_result", "tool_use_id": "use", "content": "3"}


def hook_input(event):
    base = {"session_id": "s", "transcript_path": "/t", "cwd": "/", "hook_event_name": event}
    return {**base, "tool_name": TOOL, "tool_input": NUMBERS, "tool_response": "3"}


STEPS = [
    lambda agent: agent.wait("mute:initialize"),
    lambda agent: agent.reply("initialize"),
    lambda agent: agent.wait("user"),
    lambda agent: agent.init(),
    lambda agent: agent.say([USE]),
    lambda agent: agent.ask("before", "hook_callback", callback_id="hook_0", input=hook_input("PreToolUse")),
    lambda agent: agent.wait("control_response"),
    lambda agent: agent.ask("may", "can_use_tool", tool_name=TOOL, input=NUMBERS, tool_use_id="use"),
    lambda agent: agent.wait("control_response"),
    lambda agent: agent.ask("do", "mcp_message", server_name="calculator", message=CALL),
    lambda agent: agent.wait("control_response"),
    lambda agent: agent.ask("after", "hook_callback", callback_id="hook_1", input=hook_input("PostToolUse")),
    lambda agent: agent.wait("control_response"),
    lambda agent: agent.emit({"type": "user", "message": {"role": "user", "content": [GOT]}}),
    lambda agent: agent.say("three"),
    lambda agent: agent.result("done"),
    lambda agent: agent.wait("eof"),
]
WAITS = {0, 2, 6, 8, 10, 12, 16}
HANDSHAKE = 2
"""How many steps make the handshake."""
SAID = {
    3: "SystemMessage",
    4: "AssistantMessage",
    13: "UserMessage",
    14: "AssistantMessage",
    15: "ResultMessage",
}
PLACES = range(len(STEPS) + 1)


def rest(agent, place):
    for step in STEPS[place:]:
        step(agent)


def rest_without_reading(agent, place):
    # Without having read the request it cannot answer it.
    for number in range(place or HANDSHAKE, len(STEPS)):
        if number not in WAITS:
            STEPS[number](agent)


FAULTS = {
    "killed": lambda agent, _: agent.kill(),
    "exit 0": lambda agent, _: agent.exit(0),
    "exit 3": lambda agent, _: agent.stderr("that was it\n").exit(3),
    "stdout closed": lambda agent, _: agent.close(1).wait("eof"),
    "stdin closed": lambda agent, place: rest_without_reading(agent.close(0), place),
    "stall": lambda agent, _: agent.sleep(60),
    "junk": lambda agent, place: rest(agent.raw("Warning: \x1b[31mthis is {no} frame\n"), place),
    "half line": lambda agent, _: agent.half_line(assistant("never whole")).exit(0),
}
"""What the agent does at the place, and behind it."""
ENDINGS = {"killed", "exit 0", "exit 3", "half line", "stdout closed"}
"""Those after which the agent says nothing more."""
CONSUMERS = ["reading", "idle", "cancelled", "closing"]
CASES = list(itertools.product(PLACES, FAULTS, CONSUMERS))


def play(agent, place, fault):
    """Write the agent's part: up to the place, there the gate and the fault."""
    for step in STEPS[:place]:
        step(agent)
    FAULTS[fault](agent.stall("here"), place)


@tool("add", "Adds two numbers", {"a": int, "b": int})
async def add(arguments):
    await anyio.lowlevel.checkpoint()
    return {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}


async def hook(_input, _use, _context):
    await anyio.lowlevel.checkpoint()
    return {}


async def allow(_name, _input, _context):
    await anyio.lowlevel.checkpoint()
    return PermissionResultAllow()


def options_of(agent, fault, consumer):
    # Whoever is cancelled or closes is told of nothing else, however slow the machine is.
    stalls = fault == "stall" and consumer in {"reading", "idle"}
    return ClaudeAgentOptions(
        cli_path=agent.path,
        can_use_tool=allow,
        hooks={"PreToolUse": [HookMatcher(hooks=[hook])], "PostToolUse": [HookMatcher(hooks=[hook])]},
        mcp_servers={"calculator": create_sdk_mcp_server("calculator", tools=[add])},
        close_timeout=(1.5, 0.5),
        initialize_timeout=1.0 if stalls else 30.0,
        control_timeout=1.0,
        idle_timeout=0.8 if stalls else None,
    )


class Case:
    """One agent, one consumer, and what came of them."""

    def __init__(self, folder, place, fault, consumer):
        self.agent = ScriptedAgent(folder, life=40)
        play(self.agent, place, fault)
        self.place, self.fault, self.consumer = place, fault, consumer
        self.options = options_of(self.agent, fault, consumer)
        self.messages = []
        self.later = None

    async def outcome(self):
        error = None
        with anyio.move_on_after(20) as bound:
            async with anyio.create_task_group() as self.tasks:
                try:
                    await getattr(self, self.consumer)()
                except Exception as raised:  # noqa: BLE001  # whatever it is, it is looked at
                    error = raised
                self.tasks.cancel_scope.cancel()
        return {
            "hangs": bound.cancelled_caught,
            "error": error and type(error).__name__,
            "exit_code": getattr(error, "exit_code", None),
            "stderr": getattr(error, "stderr", None),
            "messages": [type(message).__name__ for message in self.messages],
            "later": self.later,
            "left": [run.state for run in self.agent.runs if run.state != "gone"],
        }

    async def reading(self):
        self.agent.gate("here").release()
        async for message in query(prompt="go", options=self.options):
            self.messages.append(message)

    async def cancelled(self):
        with anyio.CancelScope() as scope:
            self.tasks.start_soon(self._at_the_place, scope.cancel)
            async for message in query(prompt="go", options=self.options):
                self.messages.append(message)

    async def idle(self):
        """Look away until it has happened, then read, and ask once more."""
        happened = anyio.Event()
        self.tasks.start_soon(self._at_the_place, happened.set)
        client = ClaudeSDKClient(self.options)
        try:
            await client.connect()
            await client.query("go")
            if self.place < len(STEPS):
                await happened.wait()
                while client.alive and self.fault in ENDINGS:  # noqa: ASYNC110  # an idle client asks
                    await anyio.sleep(0.005)
            async for message in client.receive_response():
                self.messages.append(message)
        finally:
            self.later = await self._ask_again(client)
            await client.disconnect()

    async def _ask_again(self, client):
        try:
            await client.interrupt()
        except Exception as error:  # noqa: BLE001  # as above
            return type(error).__name__
        return "answered"

    async def closing(self):
        client = ClaudeSDKClient(self.options)
        self.tasks.start_soon(self._at_the_place, None, client.disconnect)
        try:
            await client.connect()
            await client.query("go")
            async for message in client.receive_response():
                self.messages.append(message)
        finally:
            await client.disconnect()

    async def _at_the_place(self, then=None, at_once=None):
        """Let the fault happen the moment the agent has come so far, and do something in the same moment."""
        await self.agent.gate("here").reached(15)
        self.agent.gate("here").release()
        if then is not None:
            then()
        if at_once is not None:
            await at_once()


# -- the program


def leaks():
    """What a program has that it should not keep: descriptors, threads, children."""
    children = [
        pid
        for thread in Path("/proc/self/task").iterdir()
        for pid in (thread / "children").read_text().split()
    ]
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "children": [process_state(int(pid)) for pid in children],
    }


def tasks_of_the_loop():
    trio = sys.modules.get("trio")
    if trio is not None and anyio.get_cancelled_exc_class() is trio.Cancelled:
        return trio.lowlevel.current_statistics().tasks_living
    return len(asyncio.all_tasks())


async def run_case(folder, case):
    current = Case(folder, *case)
    with current.agent:
        return await current.outcome()


async def run_cases(numbers, folder, at_once):
    limiter = anyio.CapacityLimiter(at_once)
    outcomes = {}

    async def run(number):
        async with limiter:
            outcomes[number] = await run_case(folder / str(number), CASES[number])

    if "trio" not in sys.modules or anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        asyncio.get_running_loop().slow_callback_duration = 60
    # The first one loads what is loaded on first use.
    await run_case(folder / "first", (0, "junk", "reading"))
    before, tasks_before = leaks(), tasks_of_the_loop()
    async with anyio.create_task_group() as tasks:
        for number in numbers:
            tasks.start_soon(run, number)
    return {
        "outcomes": outcomes,
        "before": before,
        "after": leaks(),
        "tasks": tasks_of_the_loop() - tasks_before,
    }


def main(backend, at_once):
    # What it logs about junk and the like is not asked for here; what has gone wrong inside is.
    logging.getLogger("claude_wrapper").setLevel(logging.ERROR)
    numbers = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        report = anyio.run(run_cases, numbers, Path(folder), at_once, backend=backend)
    gc.collect()
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
