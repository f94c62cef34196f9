import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OURS, THEIRS = "claude_wrapper", "claude_agent_sdk"


@pytest.fixture(scope="session")
def answers_of(tmp_path_factory):
    """Run a program of this folder with either package; return what each has printed, ours first.

    The program is host and agent in one: it is given the package's name and a launcher of itself.
    """

    def run(python, package, program):
        folder = tmp_path_factory.mktemp("peers")
        launcher = folder / package
        launcher.write_text(f'#!/bin/sh\nexec "{python}" "{program}" "$@"\n')
        launcher.chmod(0o700)
        done = subprocess.run(
            [python, program, package, launcher],
            capture_output=True,
            timeout=60,
            check=True,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        )
        return json.loads(done.stdout)

    def both(name):
        program = Path(__file__).with_name(name)
        peers = Path(os.environ["CLAUDE_WRAPPER_PEERS"], "pyenv", "bin", "python")
        return run(sys.executable, OURS, program), run(peers, THEIRS, program)

    return both
