"""What a permission decision costs: the first one of a process, and each one after that."""

from __future__ import annotations

import tempfile
from functools import partial

from figures import Peers, Table, best, output_of

_GOAL_MS = 1.0
_FIRST_GOAL_MS = 100.0
_USUAL = {
    "ls": "ls -la src",
    "npm": "npm run build",
    "git and npm": "git status && npm run build 2>&1 | tail -n 5",
    "grep": "grep -rn 'name' src | head -20",
    "edit": "sed -i s/a/b/ a.txt",
    "find": "find . -name '*.py' -not -path './x/*' | xargs grep -l y",
}
_SCRIPT = """
import sys, time
from claude_wrapper.agent.permissions.call import Call
from claude_wrapper.agent.permissions.decide import decide
from claude_wrapper.agent.permissions.policy import Policy

allow = ["Bash(npm run:*)", *(f"Bash(tool{number}:*)" for number in range(40))]
policy, _ = Policy(original_cwd=sys.argv[1], home="/nonexistent").with_rules(allow, "allow", "cliArg")
policy, _ = policy.with_rules(["Bash(rm:*)", "Read(.env)", "Edit(./kept/**)"], "deny", "cliArg")

def spent(line):
    started = time.perf_counter()
    decide(Call("Bash", {"command": line}, sys.argv[1], (sys.argv[1],)), policy)
    return (time.perf_counter() - started) * 1000

first = spent("ls")
times = [spent(f"{sys.argv[2]} {number}") for number in range(200)]
print(first if sys.argv[3] == "first" else sorted(times)[len(times) // 2])
"""


def decisions(table: Table, peers: Peers, runs: int) -> None:
    """Milliseconds, held against a fixed goal; every line is a new one, so that nothing is remembered."""
    with tempfile.TemporaryDirectory() as folder:

        def measured(line: str, which: str) -> float:
            command = [peers.ours, "-c", _SCRIPT, folder, line, which]
            return best(runs, partial(_figure, command), most=False)[0]

        table.row("first decision", measured("ls", "first"), _FIRST_GOAL_MS, "ms", 1, more_is_better=False)
        for name, line in _USUAL.items():
            table.row(f"decision: {name}", measured(line, "each"), _GOAL_MS, "ms", 1, more_is_better=False)


def _figure(command: list[str]) -> float:
    return float(output_of(command))
