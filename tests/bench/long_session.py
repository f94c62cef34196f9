"""One agent that answers many prompts: what a turn takes, and what it leaves in memory, early and late.

usage: python tests/bench/long_session.py [--turns N]

Each turn reads a file and says a sentence. Prints the processor time of a turn by quarters, and the growth of memory;
the exit code is 1 when a late turn takes more than twice an early one, or a turn keeps more than 40 KB.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from claude_wrapper.testing import ModelProcess, call, say

FLAGS = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
MOST_KB = 40.0
MOST_RATIO = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=1000)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a.txt")
        file.write_text("alpha\nbeta\ngamma\n")
        with ModelProcess([call("Read", file_path=str(file)), say("It has three lines.")]) as model:
            times, sizes = play(turns, model.url, folder)
    quarter = turns // 4
    # The agent's own time: what else the machine does must not count.
    spent = [
        (times[start + quarter] - times[start]) * 1000 / quarter for start in range(0, quarter * 4, quarter)
    ]
    growth = (sizes[-1] - sizes[quarter]) / (turns - quarter - 1)
    print(f"a turn, by quarters: {', '.join(f'{each:.1f} ms' for each in spent)} of the processor")
    print(
        f"memory: {sizes[0] / 1024:.0f} MB at first, {sizes[-1] / 1024:.0f} MB at last, {growth:.1f} KB a turn"
    )
    return int(spent[-1] > MOST_RATIO * spent[0] or growth > MOST_KB)


def play(turns: int, url: str, folder: str) -> tuple[list[float], list[int]]:
    """The seconds of processor time before and after each turn, and the kilobytes."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": folder,
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": url,
    }
    agent = subprocess.Popen(
        [sys.executable, "-P", "-m", "claude_wrapper.agent", *FLAGS, "--model", "claude-sonnet-4-5"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env=environment,
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    prompt = msgspec.json.encode({"type": "user", "message": {"role": "user", "content": "Read it."}}) + b"\n"
    times, sizes = [0.0], []
    try:
        for _ in range(turns):
            agent.stdin.write(prompt)
            agent.stdin.flush()
            for line in agent.stdout:
                if b'"type":"result"' in line[:200]:
                    break
            times.append(processor_seconds(agent.pid))
            sizes.append(resident(agent.pid))
    finally:
        agent.stdin.close()
        agent.stdout.close()
        agent.wait(30)
    return times, sizes


def processor_seconds(pid: int) -> float:
    """What a process has used of the processor so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """Kilobytes of memory of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0])


if __name__ == "__main__":
    sys.exit(main())
