"""Settings files that change while a session runs: what is noticed, and what is relied upon."""

import json
import os

import pytest

from claude_wrapper.agent.permissions.policy import Policy
from claude_wrapper.agent.start.cli import parse_arguments
from claude_wrapper.agent.start.load_files import load_files
from claude_wrapper.agent.start.settings_watch import SettingsWatch

pytestmark = pytest.mark.feature("SET-06")


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Folder:
    """A project whose settings change."""

    def __init__(self, root, *argv):
        self.root = root
        self.project = root / "project"
        self.managed = root / "managed"
        (self.project / ".claude").mkdir(parents=True, exist_ok=True)
        self.environ = {"HOME": str(root)}
        self.clock = Clock()
        self.arguments = parse_arguments(list(argv))

    @property
    def file(self):
        return self.project / ".claude" / "settings.local.json"

    def says(self, deny):
        self.file.write_text(json.dumps({"permissions": {"deny": deny}}))

    def watch(self):
        files, _, _ = load_files(self.arguments, self.environ, self.project)
        return SettingsWatch(
            self.arguments, self.environ, self.project, files, managed=self.managed, clock=self.clock
        )


def taken(watch):
    """Take over what has changed, as a session does; what was told."""
    told = []
    for change in watch.changes():
        watch.settle(change, taken=change.usable)
        told += change.told
    return told


def denied(watch):
    policy, _ = watch.policy(Policy())
    return [str(rule.rule) for rule in policy.of("deny")]


@pytest.fixture
def folder(tmp_path):
    place = Folder(tmp_path)
    place.says(["Bash"])
    return place


def test_nothing_is_read_again_as_long_as_nothing_changes(folder):
    watch = folder.watch()

    assert not watch.stale()
    assert watch.changes() == []


def test_a_file_that_is_written_is_read_again(folder):
    watch = folder.watch()
    folder.says(["Bash", "Write"])

    assert watch.stale()
    assert taken(watch) == []
    assert denied(watch) == ["Bash", "Write"]
    assert not watch.stale()


def test_a_change_that_keeps_size_and_time_is_noticed(folder):
    watch = folder.watch()
    before = folder.file.stat()
    folder.says(["Edit"])
    os.utime(folder.file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert watch.stale()


def test_new_permissions_of_the_file_are_no_change(folder):
    watch = folder.watch()
    folder.file.chmod(0o600)

    assert watch.changes() == []
    assert not watch.stale()


@pytest.mark.parametrize(
    "text", ["", " \n", '{"permissions": {"deny"', "[]", '{"permissions": {"allow": 3}}']
)
def test_a_file_that_is_no_settings_file_lifts_no_rule(folder, text):
    watch = folder.watch()
    folder.file.write_text(text)
    assert taken(watch) == []  # somebody may just be writing it
    assert denied(watch) == ["Bash"]

    folder.clock.now += 2
    (told,) = taken(watch)
    assert str(folder.file) in told
    assert "stay in force" in told
    assert denied(watch) == ["Bash"]
    assert not watch.stale()

    folder.says(["Write"])
    taken(watch)
    assert denied(watch) == ["Write"]


def test_a_file_that_is_replaced_by_way_of_its_removal_lifts_no_rule(folder):
    watch = folder.watch()
    folder.file.unlink()
    assert taken(watch) == []
    assert denied(watch) == ["Bash"]

    folder.says(["Write"])
    taken(watch)
    assert denied(watch) == ["Write"]


def test_a_file_that_stays_away_says_nothing_any_more(folder):
    watch = folder.watch()
    folder.file.unlink()
    taken(watch)
    folder.clock.now += 2
    taken(watch)

    assert denied(watch) == []
    assert not watch.stale()


def test_a_change_that_was_not_taken_does_not_come_again(folder):
    watch = folder.watch()
    folder.says([])
    (change,) = watch.changes()
    watch.settle(change, taken=False)

    assert denied(watch) == ["Bash"]
    assert not watch.stale()


def test_sources_keep_their_order(folder):
    (folder.root / ".claude").mkdir()
    watch = folder.watch()
    (folder.root / ".claude" / "settings.json").write_text('{"model": "user"}')
    (folder.project / ".claude" / "settings.json").write_text('{"model": "project"}')
    folder.managed.mkdir()
    (folder.managed / "managed-settings.json").write_text('{"model": "managed"}')
    taken(watch)

    sources = [file.source for file in watch.files]
    assert sources == ["userSettings", "projectSettings", "localSettings", "policySettings"]


def test_broken_settings_of_an_administrator_leave_those_in_force(folder):
    folder.managed.mkdir()
    managed = folder.managed / "managed-settings.json"
    watch = folder.watch()
    managed.write_text('{"permissions": {"deny": ["Write"]}}')
    taken(watch)
    assert denied(watch) == ["Bash", "Write"]

    managed.write_text("{")
    taken(watch)
    folder.clock.now += 2
    (told,) = taken(watch)
    assert "managed-settings.json" in told
    assert denied(watch) == ["Bash", "Write"]


def test_files_that_the_command_line_leaves_out_are_watched_and_not_read(tmp_path):
    folder = Folder(tmp_path, "--setting-sources", "user")
    watch = folder.watch()
    folder.says(["Bash"])
    (change,) = watch.changes()
    watch.settle(change, taken=change.usable)

    assert (change.source, change.usable) == ("localSettings", False)
    assert denied(watch) == []
    assert not watch.stale()


def test_a_folder_that_nobody_trusts_cannot_grant_itself_anything_later(folder):
    watch = folder.watch()
    (folder.project / ".claude" / "settings.json").write_text('{"permissions": {"allow": ["Bash"]}}')
    (told,) = taken(watch)
    policy, _ = watch.policy(Policy())

    assert "has not been trusted" in told
    assert policy.of("allow") == ()


def test_a_pipe_in_the_place_of_the_file_holds_nobody_up(folder):
    watch = folder.watch()
    folder.file.unlink()
    os.mkfifo(folder.file)
    taken(watch)
    folder.clock.now += 2
    taken(watch)

    assert denied(watch) == ["Bash"]


def test_what_the_agent_writes_is_no_change_and_is_not_forgotten(folder):
    watch = folder.watch()
    with watch.writing(folder.file):
        folder.says(["Bash", "Write"])
    assert not watch.stale()

    (folder.project / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Edit"]}}')
    known = {change.source: change.known for change in watch.changes()}
    taken(watch)

    assert known == {"localSettings": True, "projectSettings": False}
    assert sorted(denied(watch)) == ["Bash", "Edit", "Write"]


def test_what_somebody_else_writes_before_the_agent_does_is_a_change(folder):
    watch = folder.watch()
    folder.says(["Write"])
    with watch.writing(folder.file):
        folder.says(["Write", "Edit"])
    taken(watch)

    assert denied(watch) == ["Write", "Edit"]
