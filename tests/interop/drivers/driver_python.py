"""Plays one run through a Python SDK and writes what its caller sees; the SDK is whichever module the run names."""

import asyncio
import importlib
import json
import os
import signal
import sys
import urllib.request
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from python_describe import Notebook, described, described_fault
from python_options import build_options

PATIENCE = 30.0


def matches(pattern: Any, value: Any) -> bool:
    """Whether everything that `pattern` says is true of `value`."""
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            key in value and matches(part, value[key]) for key, part in pattern.items()
        )
    if isinstance(pattern, list):
        return isinstance(value, list) and all(any(matches(part, item) for item in value) for part in pattern)
    return bool(pattern == value)


def open_gate(url: str) -> None:
    """Let the scripted model go on."""
    urllib.request.urlopen(url, data=b"{}", timeout=PATIENCE).close()


async def prompt_frames(frames: list[Any], seen: asyncio.Queue[str]) -> AsyncIterator[dict[str, Any]]:
    """A prompt that arrives bit by bit: whole frames, and what has to be seen before the next one."""
    for frame in frames:
        if "$after" in frame:
            while await asyncio.wait_for(seen.get(), PATIENCE) != frame["$after"]:
                pass
        else:
            yield frame


def prompt_of(prompt: Any, seen: asyncio.Queue[str]) -> Any:
    return prompt if isinstance(prompt, str) else prompt_frames(prompt, seen)


async def play_query(sdk: Any, options: Any, spec: dict[str, Any], notes: Notebook) -> None:
    """`query()` from the first message to the last, or to the exception."""
    seen: asyncio.Queue[str] = asyncio.Queue()
    try:
        async for message in sdk.query(prompt=prompt_of(spec["prompt"], seen), options=options):
            notes.put("message", described(message))
            seen.put_nowait(type(message).__name__)
    except Exception as fault:  # noqa: BLE001 - whatever the SDK raises is what we came to see
        notes.fault("query", fault)


class ClientRun:
    """A conversation through the client: one task reads, the steps are played beside it."""

    def __init__(self, client: Any, spec: dict[str, Any], notes: Notebook) -> None:
        self._client = client
        self._spec = spec
        self._notes = notes
        self._seen: list[dict[str, Any]] = []
        self._looked_at = 0
        self._ended = False
        self._news = asyncio.Condition()

    async def play(self) -> None:
        try:
            await self._client.connect()
        except Exception as fault:  # noqa: BLE001 - see play_query
            self._notes.fault("connect", fault)
            return
        reader = asyncio.create_task(self._read())
        for step in self._spec["steps"]:
            await self._step(step)
        try:
            await self._client.disconnect()
        except Exception as fault:  # noqa: BLE001 - see play_query
            self._notes.fault("disconnect", fault)
        await asyncio.wait([reader], timeout=PATIENCE)

    async def _read(self) -> None:
        try:
            async for message in self._client.receive_messages():
                row = described(message)
                self._notes.put("message", row)
                async with self._news:
                    self._seen.append(row)
                    self._news.notify_all()
        except Exception as fault:  # noqa: BLE001 - see play_query
            self._notes.fault("receive_messages", fault)
        async with self._news:
            self._ended = True
            self._news.notify_all()

    async def _step(self, step: dict[str, Any]) -> None:
        match step:
            case {"query": prompt}:
                await self._call("query", [prompt_of(prompt, asyncio.Queue())])
            case {"until": pattern}:
                await self._until({"class": pattern} if isinstance(pattern, str) else pattern, step)
            case {"until_end": _}:
                await self._until({}, {"until": "the end"}, only_end=True)
            case {"until_file": name}:
                await self._until_file(Path(self._spec["project"], name))
            case {"until_gate": name}:
                await self._until_file(Path(self._spec["gates"], name))
            case {"release": name}:
                await asyncio.to_thread(open_gate, f"{self._spec['url']}/gates/{name}")
            case {"call": method}:
                await self._call(method, [self._argument(argument) for argument in step.get("args", [])])
            case {"make": name}:
                await asyncio.to_thread(Path(self._spec["project"], name).touch)
            case {"kill": name}:
                os.kill(self._agent_pid(), signal.Signals[name])
            case _:
                raise SystemExit(f"no such step: {step}")

    async def _until(self, pattern: dict[str, Any], step: dict[str, Any], *, only_end: bool = False) -> None:
        def arrived() -> bool:
            while not only_end and self._looked_at < len(self._seen):
                self._looked_at += 1
                if matches(pattern, self._seen[self._looked_at - 1]):
                    return True
            return self._ended

        try:
            async with self._news:
                await asyncio.wait_for(self._news.wait_for(arrived), step.get("timeout", PATIENCE))
        except asyncio.TimeoutError:
            self._notes.put("waited", {"for": step["until"]})

    async def _until_file(self, path: Path) -> None:
        found = path.exists
        for _ in range(int(PATIENCE * 50)):
            if found():
                return
            await asyncio.sleep(0.02)
        self._notes.put("waited", {"for": path.name})

    async def _call(self, method: str, arguments: list[Any]) -> None:
        try:
            result = await getattr(self._client, method)(*arguments)
        except Exception as fault:  # noqa: BLE001 - see play_query
            self._notes.put("call", {"method": method, "raise": described_fault(fault)})
            return
        if method != "query":
            self._notes.put("call", {"method": method, "result": described(result)})

    def _argument(self, argument: Any) -> Any:
        """`@name` stands for that field of the newest message that has it."""
        if not (isinstance(argument, str) and argument.startswith("@")):
            return argument
        return next((row[argument[1:]] for row in reversed(self._seen) if row.get(argument[1:])), None)

    def _agent_pid(self) -> int:
        started = [json.loads(line) for line in Path(self._spec["processes"]).read_text().splitlines()]
        return int(started[-1]["pid"])


async def play_functions(sdk: Any, spec: dict[str, Any], notes: Notebook) -> None:
    """Functions of the module, such as those that read sessions from disk."""
    for name, arguments in spec["functions"]:
        try:
            result = getattr(sdk, name)(**arguments)
        except Exception as fault:  # noqa: BLE001 - see play_query
            notes.put("call", {"method": name, "raise": described_fault(fault)})
            continue
        notes.put("call", {"method": name, "result": described(result)})


async def main(spec: dict[str, Any]) -> None:
    sdk = importlib.import_module(spec["module"])
    notes = Notebook(spec["events"])
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, *_: notes.put("warning", {"class": type(message).__name__})
    try:
        options = build_options(sdk, spec, notes)
        if "functions" in spec:
            await play_functions(sdk, spec, notes)
        elif "steps" in spec:
            await ClientRun(sdk.ClaudeSDKClient(options), spec, notes).play()
        else:
            await play_query(sdk, options, spec, notes)
    except Exception as fault:
        notes.fault("driver", fault)
        raise


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
