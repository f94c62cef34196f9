"""What an agent asks of its host is answered alike by either package, or better here for a reason."""

import os

import pytest

PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers"),
]

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
def answers(answers_of):
    return answers_of("host_program.py")


@pytest.mark.feature("WRAP-04", "PERM-21", "PERM-22", "HOOK-16")
def test_handshake_permissions_and_hooks_are_answered_alike_but_where_they_are_better(answers):
    ours, theirs = answers
    assert list(ours) == list(theirs)
    assert len(ours) > 30
    different = {what for what in ours if ours[what] != theirs[what]}
    assert different == set(BETTER) | IN_OTHER_WORDS
    for what in IN_OTHER_WORDS:
        assert ours[what]["subtype"] == theirs[what]["subtype"] == "error"
