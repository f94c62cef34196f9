"""What an agent asks of its host is answered alike by either package, or better here for a reason."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers"),
]

PROGRAM = Path(__file__).with_name("program.py")

BETTER = {
    "hook none": "there saying nothing is a failure of its own words, here it is having no opinion",
    "permission raise bare": "there the agent is told an empty text, here the error's name",
}
"""Answers that mean something else, each with its reason."""

IN_OTHER_WORDS = {
    "permission a dict",
    "permission nothing",
    "permission bad updates",
    "hook is wrong",
    "hook unknown",
    "permission without a tool",
}
"""Refusals on both sides, each in its own words."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("host")

    def answers(python, package):
        launcher = folder / package
        launcher.write_text(f'#!/bin/sh\nexec "{python}" "{PROGRAM}" "$@"\n')
        launcher.chmod(0o700)
        done = subprocess.run(
            [python, PROGRAM, package, launcher],
            capture_output=True,
            timeout=60,
            check=True,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        )
        return json.loads(done.stdout)

    ours = answers(sys.executable, "claude_wrapper")
    theirs = answers(Path(PEERS, "pyenv", "bin", "python"), "claude_agent_sdk")
    return ours, theirs


@pytest.mark.feature("WRAP-04", "PERM-21", "PERM-22", "HOOK-16")
def test_handshake_permissions_and_hooks_are_answered_alike_but_where_they_are_better(answers):
    ours, theirs = answers
    assert list(ours) == list(theirs)
    assert len(ours) > 30
    different = {what for what in ours if ours[what] != theirs[what]}
    assert different == set(BETTER) | IN_OTHER_WORDS
    for what in IN_OTHER_WORDS:
        assert ours[what]["subtype"] == theirs[what]["subtype"] == "error"
