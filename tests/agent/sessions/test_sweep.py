"""Old sessions, which are removed after a time."""

import json
import os
import time
from pathlib import Path

import pytest

from claude_wrapper.agent.sessions.sweep import days_to_keep, sweep
from claude_wrapper.agent.start.cli import parse_arguments
from claude_wrapper.agent.start.load_settings import load_settings

pytestmark = pytest.mark.feature("SET-11")
OLD, NEW = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
DAYS = 86400


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    (folder / ".claude" / "projects" / "-x").mkdir(parents=True)
    return folder


def loaded(home, *argv, **settings):
    if settings:
        (home / ".claude" / "settings.json").write_text(json.dumps(settings))
    return load_settings(parse_arguments(["-p", "go", *argv]), {"HOME": str(home)}, home)


def put(home, name, days):
    path = home / ".claude" / "projects" / "-x" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    at = time.time() - days * DAYS
    os.utime(path, (at, at))
    return path


def test_what_is_older_goes_and_the_rest_stays(home):
    gone = [
        put(home, f"{OLD}.jsonl", 40),
        put(home, f"{OLD}/subagents/agent-1.jsonl", 40),
        put(home, f"{OLD}/tool-results/a.txt", 40),
        put(home, "agent-1.jsonl", 40),
    ]
    kept = [
        put(home, f"{NEW}.jsonl", 20),
        put(home, f"{NEW}/tool-results/a.txt", 20),
        put(home, "notes.txt", 400),
        put(home, "memory/MEMORY.md", 400),
    ]

    assert sweep(loaded(home), 30, "own") == len(gone)
    assert [path for path in gone if path.exists()] == []
    assert [path for path in kept if not path.exists()] == []
    assert not (home / ".claude" / "projects" / "-x" / OLD).exists()


def test_the_session_that_runs_is_kept(home):
    own = [put(home, f"{OLD}.jsonl", 400), put(home, f"{OLD}/tool-results/a.txt", 400)]
    assert sweep(loaded(home), 30, OLD) == 0
    assert all(path.exists() for path in own)


def test_links_are_left_alone_and_lead_nowhere(home, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = elsewhere / f"{OLD}.jsonl"
    target.write_text("mine")
    os.utime(target, (0, 0))
    projects = home / ".claude" / "projects"
    (projects / "-link").symlink_to(elsewhere)
    (projects / "-x" / OLD).symlink_to(elsewhere)
    (projects / "-x" / "one.jsonl").symlink_to(target)

    assert sweep(loaded(home), 1, "own") == 0
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    ("argv", "settings", "days"),
    [
        ((), {}, 30),
        ((), {"cleanupPeriodDays": 3}, 3),
        (("--setting-sources", "project"), {"cleanupPeriodDays": 365}, 365),
        (("--settings", '{"cleanupPeriodDays": 5}'), {"cleanupPeriodDays": 365}, 365),
        ((), {"cleanupPeriodDays": 0}, None),
        ((), {"cleanupPeriodDays": "long"}, None),
        (("--no-session-persistence",), {}, None),
    ],
)
def test_how_long_they_are_kept(home, argv, settings, days):
    assert days_to_keep(loaded(home, *argv, **settings)) == days


def test_broken_settings_remove_nothing(home):
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 365')
    assert days_to_keep(loaded(home, "--setting-sources", "project")) is None


def test_a_session_that_runs_for_a_while_removes_them(workspace, eventually):
    old = Path(put(workspace.home, f"{OLD}.jsonl", 40))
    workspace.talk(None).initialize()

    eventually(lambda: not old.exists())
