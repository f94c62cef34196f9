"""Lets many agents work on a model server that fails at random, and counts what became of them.

usage: python tests/bench/soak.py [--runs N] [--seed N] [--at-once N]

Each run has a few commands to carry out and a last word to say. Its server answers with 429, 529, 500, web pages,
streams that break off, stand still, are slow, are reset or report an error, by the seed. A run is right when it ends
within its time, says its last word or names the failure, has carried every command out once, has the whole
conversation in its transcript, and has counted exactly the tokens that the server billed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.testing import (
    ModelRequest,
    ScriptedModel,
    Turn,
    call,
    cut,
    error_event,
    fail,
    hang_up,
    html,
    say,
    turn,
)

PATIENCE = 120.0
INPUT, OUTPUT = 100, 20
USAGE = {"input_tokens": INPUT, "output_tokens": OUTPUT}
NO_WAIT = {"retry-after": "0"}
FAULTS: dict[str, Callable[[Turn], Turn]] = {
    "429": lambda _: fail(429, headers=NO_WAIT),
    "529": lambda _: fail(529, headers=NO_WAIT),
    "500": lambda _: fail(500, headers=NO_WAIT),
    "503": lambda _: fail(503, headers=NO_WAIT),
    "web page": lambda _: html(),
    "no answer": lambda _: hang_up(),
    "silence, then the end": lambda _: turn(hang_up(), delay=0.3),
    "reset in the first block": lambda reply: turn(reply, cut(after_block=0, reset=True), usage=USAGE),
    "cut behind the reply": lambda reply: turn(reply, cut(), usage=USAGE),
    "error in the stream": lambda reply: turn(reply, error_event(after_block=0), usage=USAGE),
    "slow": lambda reply: turn(reply, chunk=2, chunk_delay=0.01, usage=USAGE),
}
SOUND = 0.5
"""How often a request is simply answered."""


class Server:
    """Answers by chance, and keeps the books."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._asked: Counter[int] = Counter()
        self.whole: Counter[int] = Counter()
        """Replies that went out whole, by run: these are billed in full."""
        self.broken: Counter[int] = Counter()
        """Replies that broke off behind their beginning: their input is billed, and what output they have had."""
        self.faults: Counter[str] = Counter()

    def answer(self, request: ModelRequest) -> Turn:
        """The reply to a request, or what comes in its place."""
        text = msgspec.json.encode(request.messages).decode()
        number = int(text.partition("Run number ")[2].split(" ")[0])
        self._asked[number] += 1
        chance = random.Random(f"{self._seed}/{number}/{self._asked[number]}")
        reply = self._reply(number, text)
        if chance.random() < SOUND:
            self.whole[number] += 1
            return turn(reply, usage=USAGE)
        name = chance.choice(list(FAULTS))
        self.faults[name] += 1
        if name == "slow":
            self.whole[number] += 1
        elif name in {"reset in the first block", "cut behind the reply", "error in the stream"}:
            self.broken[number] += 1
        return FAULTS[name](reply)

    def _reply(self, number: int, text: str) -> Turn:
        done = text.count('"tool_result"')
        if done < steps_of(number):
            return call("Bash", command=f"echo {done} >> steps", description="Do a step")
        return say(f"Run {number} is done.")


def steps_of(number: int) -> int:
    """How many commands a run has to carry out."""
    return 1 + number % 3


def play(number: int, url: str, folder: Path) -> list[str]:
    """One run; returns what is wrong with it."""
    project, home = folder / f"p{number}", folder / f"h{number}"
    project.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": url,
    }
    words = ["-p", "--output-format", "json", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash", "--"]
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "claude_wrapper.agent", *words, f"Run number {number} begins"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=project,
            env=environment,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ["it hangs"]
    try:
        result = msgspec.json.decode(done.stdout)
    except msgspec.DecodeError:
        return [f"it gave no result, but {done.stdout[:200]!r} and {done.stderr[-300:]!r}"]
    return faults_of(number, done.returncode, result, project, home)


def faults_of(number: int, code: int, result: dict[str, Any], project: Path, home: Path) -> list[str]:
    """What is wrong with a run that ended."""
    path = project / "steps"
    steps = path.read_text().split() if path.exists() else []
    wanted = [str(step) for step in range(steps_of(number))]
    if result["is_error"]:
        ended_well = code == 1 and result["terminal_reason"] == "api_error" and bool(result["result"])
        wrong = [] if ended_well else [f"it failed badly: {result}"]
        wanted = wanted[: len(steps)]
    else:
        wrong = (
            [] if code == 0 and f"Run {number} is done." in result["result"] else [f"wrong result: {result}"]
        )
    if steps != wanted:
        wrong.append(f"its steps are {steps}, not {wanted}")
    RESULTS[number] = result
    return wrong + transcript_faults(number, result, home, len(steps))


def transcript_faults(number: int, result: dict[str, Any], home: Path, steps: int) -> list[str]:
    """What the transcript lacks."""
    (path,) = home.glob(".claude/projects/*/*.jsonl")
    rows = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    known = {row["uuid"] for row in rows if row.get("uuid")}
    parents = {row.get("parentUuid") for row in rows} - {None}
    text = path.read_text()
    wrong = [] if parents <= known else ["its transcript is no chain"]
    if text.count('"type":"tool_result"') != steps:
        wrong.append("its transcript lacks a result of a tool")
    if f"Run number {number} begins" not in text or (
        not result["is_error"] and f"Run {number} is done." not in text
    ):
        wrong.append("its transcript lacks the beginning or the end")
    kept = [row for row in rows if row.get("type") == "cost-state"][-1]
    if kept["totalCostUSD"] != result["total_cost_usd"]:
        wrong.append("its transcript counts another cost")
    return wrong


def bill_faults(server: Server, number: int) -> list[str]:
    """How the tokens that a run counted differ from those that the server billed."""
    result = RESULTS.get(number)
    if result is None:
        return []
    used = list(result["modelUsage"].values())
    counted = sum(each["inputTokens"] for each in used), sum(each["outputTokens"] for each in used)
    least = server.whole[number] * INPUT, server.whole[number] * OUTPUT
    most = least[0] + server.broken[number] * INPUT, least[1] + server.broken[number] * OUTPUT
    if not (least[0] <= counted[0] <= most[0] and least[1] <= counted[1] <= most[1]):
        return [f"it counted {counted} tokens, the server {least} to {most}"]
    EXACT[number] = server.broken[number] == 0 or counted[0] == most[0]
    price = (counted[0] * 3 + counted[1] * 15) / 1e6
    off = abs(price - result["total_cost_usd"])
    return [] if off < 1e-9 else [f"it counted ${result['total_cost_usd']}, not ${price}"]


RESULTS: dict[int, dict[str, Any]] = {}
EXACT: dict[int, bool] = {}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=12)
    arguments = parser.parse_args()
    server = Server(arguments.seed)
    began = time.monotonic()
    numbers = range(1, arguments.runs + 1)
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedModel([server.answer], toolless=True) as model,
        ThreadPoolExecutor(arguments.at_once) as pool,
    ):
        found = list(pool.map(lambda number: play(number, model.url, Path(folder)), numbers))
    wrong = {
        number: lines + bill_faults(server, number) for number, lines in zip(numbers, found, strict=True)
    }
    wrong = {number: lines for number, lines in wrong.items() if lines}
    for number, lines in wrong.items():
        print(f"run {number}: {'; '.join(lines)[:600]}")
    ended = Counter("failure" if result["is_error"] else "answer" for result in RESULTS.values())
    seconds = time.monotonic() - began
    print(
        f"{arguments.runs} runs, seed {arguments.seed}, {sum(server.faults.values())} faults in {seconds:.0f} s"
    )
    print(f"faults: {dict(sorted(server.faults.items()))}")
    print(f"ended with: {dict(ended)}; wrong: {len(wrong)}; inputs billed exactly: {sum(EXACT.values())}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
