"""Messages, blocks and options can be taken apart, copied, compared, shown and pickled as the official ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")
RECORDED = HERE / "data_class_facts.json"

OUR_OPTIONS = [
    *("initialize_timeout", "control_timeout", "close_timeout", "timeout", "idle_timeout", "inherit_env"),
    *("stderr_tail", "raise_on_api_error", "max_consecutive_tool_errors"),
]

DIFFERENT = {
    "dataclass below": "a message is decoded straight from the wire into a struct, from which no dataclass derives"
}
"""Facts that differ on purpose, each with its reason."""


def facts(python, *arguments):
    done = subprocess.run(
        [python, HERE / "data_class_program.py", *arguments],
        capture_output=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def official():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ours():
    return facts(sys.executable, "claude_wrapper", *OUR_OPTIONS)


@pytest.mark.feature("WRAP-01", "WRAP-12")
@pytest.mark.parametrize("name", sorted(json.loads(RECORDED.read_text(encoding="utf-8"))))
def test_what_users_do_with_it_has_the_same_outcome(name, official, ours):
    assert without(ours[name]) == without(official[name])


def without(entry):
    if not isinstance(entry, dict):
        return entry
    return {fact: outcome for fact, outcome in entry.items() if fact not in DIFFERENT}


def test_only_what_came_after_the_official_version_is_more(official, ours):
    assert set(ours) - set(official) == {"UnknownBlock", "UnknownMessage"}


def test_what_differs_on_purpose_does_differ(official, ours):
    for fact in DIFFERENT:
        assert any(official[name][fact] != ours[name][fact] for name in official if fact in official[name])


@pytest.mark.peers
@pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers")
def test_what_is_written_down_of_the_official_package_is_so(official):
    assert facts(Path(PEERS, "pyenv", "bin", "python"), "claude_agent_sdk") == official
