"""The same tools, declared with either package, are listed and answered alike, or better here for a reason."""

import json
import os

import pytest

PEERS = os.environ.get("CLAUDE_WRAPPER_PEERS")
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(not PEERS, reason="CLAUDE_WRAPPER_PEERS does not name the folder of the peers"),
]

BETTER = {
    "gives link": "there a link becomes text; the agents know links",
    "gives text resource": "there a resource becomes text; the agents know resources",
    "gives blob resource": "there it is dropped",
    "gives audio": "there it is dropped",
    "gives structured": "there structured content is dropped",
    "gives camel failed": "there only the Python spelling of a failure counts, though the protocol has the other",
    "gives text content": "there it is an error of attributes; what is meant is plain",
    "gives none": "there the error names an attribute, here what to return",
    "gives string": "likewise",
    "gives list": "likewise",
    "gives block that is no dict": "likewise",
    "gives text that is none": "likewise",
    "raises bare": "there the model is told an empty text, here the error's name",
}
"""Calls whose answers differ, each with its reason."""


@pytest.fixture(scope="module")
def answers(answers_of):
    return answers_of("tools_program.py")


def tool_of(what):
    _, method, params = what.split(" ", 2)
    assert method == "tools/call"
    return json.loads(params)["name"]


@pytest.mark.feature("CTOOL-01", "CTOOL-02")
def test_servers_introduce_themselves_and_list_their_tools_alike(answers):
    ours, theirs = answers
    assert list(ours) == list(theirs)
    for what in (what for what in ours if "tools/call" not in what):
        assert ours[what] == theirs[what], what


@pytest.mark.feature("CTOOL-01", "CTOOL-03")
def test_calls_are_answered_alike_but_where_they_are_better(answers):
    ours, theirs = answers
    calls = [what for what in ours if "tools/call" in what]
    different = {tool_of(what) for what in calls if ours[what] != theirs[what]}
    assert len(calls) > 30
    assert different == set(BETTER)
