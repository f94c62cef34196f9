import json
import subprocess
import sys

import pytest

from claude_wrapper.agent.config import lock
from claude_wrapper.agent.config.change import SettingsNotWrittenError, write_updates
from claude_wrapper.agent.permissions.rules import Rule, parse_rule
from claude_wrapper.wire.permissions import PermissionUpdateBody, RuleBody


def rules(kind, *contents, behavior="allow"):
    bodies = [RuleBody("Bash", content) for content in contents]
    return PermissionUpdateBody(kind, rules=bodies, behavior=behavior, destination="localSettings")


@pytest.mark.feature("PERM-23")
def test_a_new_file_is_private_and_holds_the_rules(tmp_path):
    path = tmp_path / ".claude" / "settings.local.json"
    write_updates(path, [rules("addRules", "touch x *", "a (b)")])
    assert json.loads(path.read_text()) == {"permissions": {"allow": ["Bash(touch x *)", "Bash(a \\(b\\))"]}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [item.name for item in path.parent.iterdir()] == ["settings.local.json"]


def test_everything_else_in_the_file_stays_and_nothing_stands_twice(tmp_path):
    path = tmp_path / "settings.json"
    before = {"model": "m", "permissions": {"allow": ["Bash(a)"], "deny": ["Read(x)"]}, "hooks": {"é": 1.5}}
    path.write_text(json.dumps(before))
    path.chmod(0o640)
    write_updates(path, [rules("addRules", "a", "b"), rules("addRules", "c", behavior="ask")])
    after = json.loads(path.read_text())
    expected = {"allow": ["Bash(a)", "Bash(b)"], "deny": ["Read(x)"], "ask": ["Bash(c)"]}
    assert after == before | {"permissions": expected}
    assert list(after) == list(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_rules_are_replaced_and_removed_and_the_mode_and_folders_are_kept(tmp_path):
    path = tmp_path / "settings.json"
    write_updates(path, [rules("addRules", "a", "b", "c")])
    write_updates(path, [rules("removeRules", "b")])
    assert json.loads(path.read_text())["permissions"]["allow"] == ["Bash(a)", "Bash(c)"]
    write_updates(
        path,
        [
            rules("replaceRules", "z"),
            PermissionUpdateBody("setMode", mode="acceptEdits"),
            PermissionUpdateBody("addDirectories", directories=["/x", "/y"]),
            PermissionUpdateBody("removeDirectories", directories=["/x"]),
        ],
    )
    assert json.loads(path.read_text())["permissions"] == {
        "allow": ["Bash(z)"],
        "defaultMode": "acceptEdits",
        "additionalDirectories": ["/y"],
    }


@pytest.mark.parametrize("content", ["{", "[]", '{"permissions": []}', "\xff"])
def test_a_file_that_is_no_settings_file_is_left_alone(tmp_path, content):
    path = tmp_path / "settings.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(SettingsNotWrittenError, match=r"settings\.json"):
        write_updates(path, [rules("addRules", "a")])
    assert path.read_bytes() == content.encode("latin-1")
    assert [item.name for item in tmp_path.iterdir()] == ["settings.json"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsNotWrittenError):
        write_updates(tmp_path / "file" / "settings.json", [rules("addRules", "a")])


def test_a_link_in_the_place_of_project_settings_is_not_written_through(tmp_path):
    target = tmp_path / "elsewhere.json"
    target.write_text("{}")
    path = tmp_path / "settings.local.json"
    path.symlink_to(target)
    write_updates(path, [rules("addRules", "a")])
    assert target.read_text() == "{}"
    assert not path.is_symlink()
    path.unlink()
    path.symlink_to(target)
    write_updates(path, [rules("addRules", "a")], follow_link=True)
    assert path.is_symlink()
    assert "Bash(a)" in target.read_text()


ADD = """
import sys
from pathlib import Path
from claude_wrapper.agent.config.change import write_updates
from claude_wrapper.wire.permissions import PermissionUpdateBody, RuleBody
sys.stdin.read(1)
for number in range(20):
    rule = RuleBody("Bash", f"{sys.argv[2]} {number}")
    update = PermissionUpdateBody("addRules", rules=[rule], behavior="allow", destination="localSettings")
    write_updates(Path(sys.argv[1]), [update])
"""


@pytest.mark.feature("PERM-23")
def test_agents_that_write_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"model": "kept"}')
    writers = [
        subprocess.Popen([sys.executable, "-c", ADD, str(path), name], stdin=subprocess.PIPE)
        for name in "abcd"
    ]
    for writer in writers:
        writer.stdin.write(b"x")
        writer.stdin.flush()
    for writer in writers:
        writer.stdin.close()
        assert writer.wait(60) == 0

    settings = json.loads(path.read_text())
    assert settings["model"] == "kept"
    assert sorted(settings["permissions"]["allow"]) == sorted(
        f"Bash({n} {i})" for n in "abcd" for i in range(20)
    )
    assert [item.name for item in path.parent.iterdir()] == ["settings.local.json"]


def test_a_lock_that_somebody_keeps_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_PATIENCE", 0.05)
    path = tmp_path / "settings.json"
    with lock.locked(tmp_path, path.name), pytest.raises(SettingsNotWrittenError, match="locked"):
        write_updates(path, [rules("addRules", "a")])
    assert not path.exists()


def test_bytes_that_are_no_text_are_not_lost_by_a_rewrite(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(b'{"x": "\xe9"}')
    with pytest.raises(SettingsNotWrittenError, match="UTF-8"):
        write_updates(path, [rules("addRules", "a")])
    assert path.read_bytes() == b'{"x": "\xe9"}'


@pytest.mark.feature("PERM-23")
@pytest.mark.parametrize("content", ["echo (a) \\ b", "grep '\\d'", "a\\\\", "f(", "\\)", "printf \\*"])
def test_a_rule_that_was_written_reads_as_the_same_rule(tmp_path, content):
    path = tmp_path / "settings.json"
    write_updates(path, [rules("addRules", content)])
    written = json.loads(path.read_text())["permissions"]["allow"]

    assert parse_rule(written[0]) == Rule("Bash", content)


def test_backslashes_are_written_as_the_field_writes_them(tmp_path):
    path = tmp_path / "settings.json"
    write_updates(path, [rules("addRules", "echo (a) \\ b")])

    assert json.loads(path.read_text())["permissions"]["allow"] == ["Bash(echo \\(a\\) \\\\ b)"]
