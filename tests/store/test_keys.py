"""From the paths of transcripts to the keys of stores."""

from pathlib import Path

import pytest

from claude_wrapper.store.keys import key_of
from claude_wrapper.store.subagents import agent_id_of, is_safe_subpath

ID = "11111111-1111-4111-8111-111111111111"
PROJECTS = Path("/home/user/.claude/projects")

KEYS = [
    (f"{PROJECTS}/-p/{ID}.jsonl", ("-p", ID, "")),
    (f"{PROJECTS}/-p/not-an-id.jsonl", ("-p", "not-an-id", "")),
    (f"{PROJECTS}/-p/{ID}/subagents/agent-x.jsonl", ("-p", ID, "subagents/agent-x")),
    (f"{PROJECTS}/-p/{ID}/subagents/flow/run/agent-x.jsonl", ("-p", ID, "subagents/flow/run/agent-x")),
    (f"{PROJECTS}/-p/{ID}/subagents/agent-x.meta.json", ("-p", ID, "subagents/agent-x.meta.json")),
    (f"{PROJECTS}/-q/../-p/{ID}.jsonl", ("-p", ID, "")),
    (f"/elsewhere/.claude/projects/-p/{ID}.jsonl", ("-p", ID, "")),
    (f"/elsewhere/projects/x/projects/-p/{ID}/subagents/agent-x.jsonl", ("-p", ID, "subagents/agent-x")),
    (f"{PROJECTS}/-p/{ID}.txt", None),
    (f"{PROJECTS}/{ID}.jsonl", None),
    (f"{PROJECTS}/-p/{ID}/other.jsonl", None),
    (f"{PROJECTS}/../{ID}.jsonl", None),
    ("/elsewhere/projects/-p/not-an-id.jsonl", None),
    (f"/elsewhere/-p/{ID}.jsonl", None),
    ("", None),
]


@pytest.mark.parametrize(("path", "key"), KEYS)
def test_a_path_has_the_key(path, key):
    assert key_of(path, PROJECTS) == key


@pytest.mark.parametrize("subpath", ["subagents/agent-x", "a/b.c", "..a/b", "./a"])
def test_a_path_within_the_session_is_safe(subpath):
    assert is_safe_subpath(subpath)


@pytest.mark.parametrize(
    "subpath", ["", ".", "..", "../x", "a/../../x", "/abs", "C:\\x", "a\\..\\..\\x", "a\0b"]
)
def test_a_path_that_leads_out_of_the_session_is_not(subpath):
    assert not is_safe_subpath(subpath)


def test_a_subagent_is_known_by_its_path():
    assert agent_id_of("subagents/agent-x") == agent_id_of("subagents/deep/agent-x") == "x"
    for other in ("agent-x", "other/agent-x", "subagents/x", "subagents/agent-", ""):
        assert agent_id_of(other) is None
