"""Many runs, in a row and at once, leave a program as it was."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "leaks.py"
EVERYTHING = os.environ.get("CLAUDE_WRAPPER_FAULTS") == "all"
IN_A_ROW = (500 if EVERYTHING else 60, 1)
AT_ONCE = (200 if EVERYTHING else 50, 100 if EVERYTHING else 25)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the figures are read from /proc")


@pytest.mark.feature("WRAP-02")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("amount", [IN_A_ROW, AT_ONCE], ids=["in a row", "at once"])
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_nothing_grows(backend, amount):
    count, at_once = amount
    done = subprocess.run(
        [sys.executable, "-W", "error", PROGRAM, backend, str(count), str(at_once)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    report = json.loads(done.stdout)
    before, after = report["before"], report["after"]
    figures = f"{count} runs, {at_once} at once: before {before}, after {after}"

    for name in ("descriptors", "threads", "children", "tasks"):
        assert after[name] == before[name], f"{name} grew. {figures}"
    # A conversation that was kept for each run would be far more than what event loops have in flight.
    assert after["objects"] - before["objects"] < 1_500, f"objects grew. {figures}"
    assert after["blocks"] - before["blocks"] < 3_000, f"memory grew. {figures}"
    # The system's view of it: what was used at once and is free again stays for a while.
    assert after["kilobytes"] - before["kilobytes"] < 5_000 + 50 * at_once, f"memory grew. {figures}"
