"""A few runs on a model server that fails at random; the bench folder has the program for many."""

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[1] / "bench" / "soak.py"


@pytest.mark.timeout(300)
@pytest.mark.feature("ENV-03", "ENV-04")
def test_whatever_the_server_does_every_run_ends_right_and_is_counted_right():
    done = subprocess.run(
        [sys.executable, str(SOAK), "--runs", "8", "--seed", "11", "--at-once", "4"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-1000:]
    assert "wrong: 0" in done.stdout
