"""Lets many agents work on a model server that fails at random, and counts what became of them.

usage: python tests/bench/soak.py [--runs N] [--first N] [--seed N] [--at-once N]

Each run has a few commands to carry out and a last word to say. Its server answers with 429, 529, 500, web pages,
streams that break off, stand still, are slow, are reset or report an error, by the seed. A run is right when it ends
within its time, says its last word or names the failure, has carried every command out once, has the whole
conversation in its transcript, and has counted each reply as Claude Code does: a whole one as it was billed; of one
whose connection broke, the input as billed and the output estimated from what came; of one that an error event ended,
what it said at its start if a block of it was kept, else nothing. The last line holds this against the server's bill.

Some runs are doomed: from a request on the server is overloaded, refuses, or cuts every reply, for ever, or the run has
a budget that its first reply uses up. Those have to end with the error that says so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
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

PATIENCE = 240.0
INPUT, OUTPUT = 100, 20
USAGE = {"input_tokens": INPUT, "output_tokens": OUTPUT}
NO_WAIT = {"retry-after": "0"}
STARTED = 1
"""The output that a reply has had when it starts."""
Tokens = tuple[int, int]
"""Of input and of output."""
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
    "error in the first block": lambda reply: turn(reply, error_event(after_block=0), usage=USAGE),
    "error in the last block": lambda reply: turn(reply, error_event(), usage=USAGE),
    "slow": lambda reply: turn(reply, chunk=2, chunk_delay=0.01, usage=USAGE),
}
REFUSED = {
    **FAULTS,
    "400": lambda _: fail(400, message="This request is refused"),
}
DOOMS: dict[str, tuple[str, str, str, int | None]] = {
    "overloaded for ever": ("529", "success", "api_error", 529),
    "refused for ever": ("400", "success", "api_error", 400),
    "cut for ever": ("reset in the first block", "success", "api_error", None),
    "out of budget": ("", "error_max_budget_usd", "budget_exhausted", None),
}
"""The fault that returns for ever, and the subtype, reason and status of the result that follows from it."""
DOOMED = 0.2
"""How many of the runs are doomed."""
BUDGET = "0.0005"
SOUND = 0.5
"""How often a request is simply answered."""


class Server:
    """Answers by chance, and keeps the books."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._asked: Counter[int] = Counter()
        self.billed: dict[int, list[Tokens]] = defaultdict(list)
        """By run, the usage that each reply said last: what the server has it pay."""
        self.due: dict[int, list[Tokens]] = defaultdict(list)
        """By run, what the agent has to count for the same replies."""
        self.faults: Counter[str] = Counter()

    def answer(self, request: ModelRequest) -> Turn:
        """The reply to a request, or what comes in its place."""
        text = msgspec.json.encode(request.messages).decode()
        number = int(text.partition("Run number ")[2].split(" ")[0])
        self._asked[number] += 1
        chance = random.Random(f"{self._seed}/{number}/{self._asked[number]}")
        reply = self._reply(number, text)
        doomed = self._doomed(number)
        if not doomed and chance.random() < SOUND:
            self._book(number, (INPUT, OUTPUT), (INPUT, OUTPUT))
            return turn(reply, usage=USAGE)
        name = doomed or chance.choice(list(FAULTS))
        self.faults[name] += 1
        streamed = bool(request.body.get("stream"))
        if doomed and not streamed:
            pass
        elif name == "slow" or (name in BREAKS and not streamed):
            # A reply that is asked for in one piece comes in one piece.
            self._book(number, (INPUT, OUTPUT), (INPUT, OUTPUT))
        elif name in BREAKS:
            self._book(number, (INPUT, STARTED), BREAKS[name](list(reply.content or ())))
        if doomed and name in BREAKS and not streamed:
            return hang_up()
        return REFUSED[name](reply)

    def doom(self, number: int) -> str | None:
        """What becomes of a run in the end, None if it may end well."""
        chance = random.Random(f"{self._seed}/doom/{number}")
        return chance.choice(list(DOOMS)) if chance.random() < DOOMED else None

    def _doomed(self, number: int) -> str:
        """The fault of this request, if it is from now on the fault of all."""
        doom = self.doom(number)
        return DOOMS[doom][0] if doom is not None and self._asked[number] > number % 3 else ""

    def _book(self, number: int, billed: Tokens, due: Tokens) -> None:
        self.billed[number].append(billed)
        self.due[number].append(due)

    def _reply(self, number: int, text: str) -> Turn:
        done = text.count('"tool_result"')
        if done < steps_of(number):
            step = call("Bash", command=f"echo {done} >> steps", description="Do a step")
            return say(f"Step {done} comes now.") + step if number % 2 else step
        return say(f"Run {number} is done.")


def written(blocks: list[dict[str, Any]]) -> Tokens:
    """What counts for a reply whose connection broke: its output is estimated, block by block."""
    texts = [
        block["text"] if block["type"] == "text" else block["name"] + json.dumps(block["input"])
        for block in blocks
    ]
    return INPUT, sum(int(len(text) / 4 + 0.5) for text in texts)


BREAKS: dict[str, Callable[[list[dict[str, Any]]], Tokens]] = {
    "reset in the first block": lambda blocks: written(blocks[:1]),
    "cut behind the reply": written,
    "error in the first block": lambda _: (0, 0),
    "error in the last block": lambda blocks: (INPUT, STARTED) if len(blocks) > 1 else (0, 0),
}
"""What the agent counts for replies that break off."""


def steps_of(number: int) -> int:
    """How many commands a run has to carry out."""
    return 1 + number % 3


def play(number: int, url: str, folder: Path, doom: str | None = None) -> list[str]:
    """One run; returns what is wrong with it."""
    project, home = folder / f"p{number}", folder / f"h{number}"
    project.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": url,
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    words = ["-p", "--output-format", "json", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"]
    if doom is not None:
        # Waiting between tries is not what is tried here.
        environment["CLAUDE_CODE_MAX_RETRIES"] = "2"
    if doom == "out of budget":
        words += ["--max-budget-usd", BUDGET]
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "claude_wrapper.agent", *words, "--", f"Run number {number} begins"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=project,
            env=environment,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        HUNG.append(number)
        return ["it hangs"]
    CODES[done.returncode] += 1
    try:
        result = msgspec.json.decode(done.stdout)
    except msgspec.DecodeError:
        return [f"it gave no result, but {done.stdout[:200]!r} and {done.stderr[-300:]!r}"]
    DOOMS_MET[doom] += 1
    return doom_faults(doom, result) + faults_of(number, done.returncode, result, project, home)


def doom_faults(doom: str | None, result: dict[str, Any]) -> list[str]:
    """How the result of a run differs from that of its doom."""
    if doom is None:
        return []
    _, *wanted = DOOMS[doom]
    if doom == "out of budget" and result.get("terminal_reason") == "api_error":
        # Chance was quicker.
        return []
    got = [result["subtype"], result.get("terminal_reason"), result.get("api_error_status")]
    return [] if result["is_error"] and got == wanted else [f"doomed to be {doom}, it ended with {got}"]


def faults_of(number: int, code: int, result: dict[str, Any], project: Path, home: Path) -> list[str]:
    """What is wrong with a run that ended."""
    path = project / "steps"
    steps = path.read_text().split() if path.exists() else []
    wanted = [str(step) for step in range(steps_of(number))]
    if result["is_error"]:
        reason, said = result.get("terminal_reason"), result.get("result") or result.get("errors")
        ended_well = code == 1 and reason in {"api_error", "budget_exhausted"} and bool(said)
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


def total(replies: Iterable[Tokens]) -> Tokens:
    """The sum of what replies took."""
    pairs = list(replies)
    return sum(each[0] for each in pairs), sum(each[1] for each in pairs)


def bill_faults(server: Server, number: int) -> list[str]:
    """How the tokens that a run counted differ from those that it has to count."""
    result = RESULTS.get(number)
    if result is None:
        return []
    used = list(result["modelUsage"].values())
    counted = sum(each["inputTokens"] for each in used), sum(each["outputTokens"] for each in used)
    due = total(server.due[number])
    if counted != due:
        return [f"it counted {counted} tokens, not {due}; the server billed {server.billed[number]}"]
    price = (counted[0] * 3 + counted[1] * 15) / 1e6
    off = abs(price - result["total_cost_usd"])
    return [] if off < 1e-9 else [f"it counted ${result['total_cost_usd']}, not ${price}"]


def bill_line(server: Server) -> str:
    """The bill of all runs, as the server wrote it and as the agents counted."""
    used = [each for result in RESULTS.values() for each in result["modelUsage"].values()]
    counted = total((each["inputTokens"], each["outputTokens"]) for each in used)
    same = sum(total(server.billed[number]) == total(server.due[number]) for number in RESULTS)
    return (
        f"tokens in and out: billed {total(map(total, server.billed.values()))}, "
        f"to be counted {total(map(total, server.due.values()))}, counted {counted}; "
        f"${sum(result['total_cost_usd'] for result in RESULTS.values()):.6f}; "
        f"runs whose bill is the same either way: {same}"
    )


RESULTS: dict[int, dict[str, Any]] = {}
CODES: Counter[int] = Counter()
DOOMS_MET: Counter[str | None] = Counter()
HUNG: list[int] = []


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1, help="number of the first run, to play many in parts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=12)
    arguments = parser.parse_args()
    server = Server(arguments.seed)
    began = time.monotonic()
    numbers = range(arguments.first, arguments.first + arguments.runs)
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedModel([server.answer], toolless=True) as model,
        ThreadPoolExecutor(arguments.at_once) as pool,
    ):
        found = list(
            pool.map(lambda number: play(number, model.url, Path(folder), server.doom(number)), numbers)
        )
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
    print(f"ended with: {dict(ended)}; exit codes: {dict(CODES)}; hung: {HUNG}; wrong: {len(wrong)}")
    print(f"dooms: {dict(DOOMS_MET)}")
    print(bill_line(server))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
