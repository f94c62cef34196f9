"""Settings that are broken, or that are no settings at all: what still counts, and what the user is told."""

import json
import os

import pytest

from claude_wrapper.agent.config.sources import SettingsError, managed_settings
from claude_wrapper.agent.start.cli import UsageError, parse_arguments
from claude_wrapper.agent.start.load_settings import load_settings

ALLOWS = '{"permissions": {"allow": ["Write"]}'


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return tmp_path / "home"


@pytest.fixture
def load(home):
    def go(*argv):
        environ = {"HOME": str(home)}
        return load_settings(parse_arguments(argv), environ, home.parent / "project")

    return go


def allowed(settings):
    return [str(rule.rule) for rule in settings.policy.of("allow")]


@pytest.mark.feature("SET-05")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{\n"permissions": {"allow": ["Write"],}}', "settings.json:2: it is no JSON"),
        ("[1]", "settings.json: it is no JSON object"),
        ('{ // why\n"permissions": {"allow": ["Write"]}}', "settings.json:1: it is no JSON"),
        (ALLOWS + ',\n\n"model": 5}', "settings.json:3: model: it has to be a text"),
        ('{"permissions":\n{"allow": "Write"}}', "settings.json:2: permissions.allow: it has to be a list"),
        (
            '{"permissions": {"allow": ["Write"], "defaultMode": "zip"}}',
            "permissions.defaultMode: it has to be ",
        ),
        (ALLOWS + ', "cleanupPeriodDays": 0}', "cleanupPeriodDays: it has to be a whole number above zero"),
        (ALLOWS + ', "hooks": {"PreToolUse": "x"}}', "hooks.PreToolUse: it has to be a list of matchers"),
        (ALLOWS + ', "fallbackModel": "sonnet"}', "fallbackModel: it has to be a list of texts"),
        ("[" * 100_000, "it is "),
    ],
)
def test_one_wrong_value_voids_the_file_and_is_told_with_its_place(home, load, text, told):
    (home / ".claude" / "settings.json").write_text(text)
    settings = load()

    assert allowed(settings) == []
    assert any(told in line and str(home) in line for line in settings.warnings), settings.warnings


@pytest.mark.feature("SET-05", "SET-09", "SET-12")
@pytest.mark.parametrize(
    "rest",
    [
        "}",
        ', "disableClaudeAiConnectors": true, "isolatePeerMachines": false}',
        ', "nope": 1, "$schema": "https://x"}',
        ', "effortLevel": "zip"}',
        ', "hooks": {"Stop": "x", "Nope": []}}',
        ', "env": {"A": {"x": 1}, "B": null}}',
        ', "enabledMcpjsonServers": "x"}',
    ],
)
def test_what_is_unknown_or_without_harm_voids_nothing(home, load, rest):
    (home / ".claude" / "settings.json").write_text(ALLOWS + rest)
    settings = load()

    assert allowed(settings) == ["Write"]
    assert settings.warnings == ()


@pytest.mark.feature("SET-05")
@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf" + ALLOWS.encode() + b"}", ALLOWS.encode() + b', "x": "\xe9"}', b""]
)
def test_byte_order_marks_odd_bytes_and_empty_files_are_put_up_with(home, load, data):
    (home / ".claude" / "settings.json").write_bytes(data)
    settings = load()

    assert allowed(settings) == (["Write"] if data else [])
    assert settings.warnings == ()


@pytest.mark.feature("SET-05")
@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "large", "device", "below a file"])
def test_what_is_no_readable_file_is_told_and_never_waited_for(home, load, kind):
    path = home / ".claude" / "settings.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to("other.json")
        (home / ".claude" / "other.json").symlink_to("settings.json")
    elif kind == "large":
        path.write_text('{"x": "' + "a" * 50_000_000 + '"}')
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.parent.rmdir()
        path.parent.write_text("")
    settings = load()

    assert allowed(settings) == []
    assert any(str(path) in line for line in settings.warnings)


def test_a_file_that_may_not_be_read_is_told(unprivileged):
    path = unprivileged / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(ALLOWS + "}")
    path.chmod(0)
    settings = load_settings(parse_arguments([]), {"HOME": str(unprivileged)}, unprivileged)

    assert any("cannot be read" in line and str(path) in line for line in settings.warnings)


@pytest.mark.feature("SET-05", "RULE-01")
def test_rules_that_decide_nothing_are_told_with_file_line_and_key(home, load):
    path = home / ".claude" / "settings.json"
    rules = {"allow": ["Write", "Bash(", "Readx"], "deny": ["Nope(x)", 7], "ask": ["bash"]}
    path.write_text(json.dumps({"permissions": rules}, indent=1))
    settings = load("--disallowedTools", "Writes")

    assert allowed(settings) == ["Write", "Readx"]
    told = "\n".join(settings.warnings)
    assert f"{path}:5: permissions.allow: the rule 'Bash(' has no effect" in told
    assert (
        f"{path}:6: permissions.allow: the rule 'Readx' has no effect: there is no tool Readx (did you mean Read?)"
        in told
    )
    assert "permissions.deny: the rule 'Nope(x)' has no effect: there is no tool Nope" in told
    assert (
        "permissions.ask: the rule 'bash' has no effect: there is no tool bash (did you mean Bash?)" in told
    )
    assert (
        "--disallowedTools: the rule 'Writes' has no effect: there is no tool Writes (did you mean Write?)"
        in told
    )


@pytest.mark.feature("SET-04")
def test_settings_of_a_flag_that_are_no_settings_keep_the_run_from_starting(home, load):
    path = home / "pipe"
    os.mkfifo(path)

    for value, told in [
        ('{"a":}', "Invalid JSON"),
        (str(home), "not a file"),
        (str(path), "not a file"),
        ("none", "not found"),
    ]:
        with pytest.raises(SettingsError, match=told):
            load("--settings", value)
    assert load("--settings", "").warnings == ()


@pytest.mark.feature("SET-02")
def test_sources_that_are_none_are_named(load):
    with pytest.raises(UsageError, match="Invalid setting source: zip"):
        load("--setting-sources", "user,zip")


@pytest.mark.feature("SET-01")
def test_managed_settings_lose_only_what_is_wrong_in_them(tmp_path):
    (tmp_path / "managed-settings.json").write_text(
        '{"model": 5, "permissions": {"deny": ["Bash"], "allow": "x"}}'
    )
    drop_ins = tmp_path / "managed-settings.d"
    drop_ins.mkdir()
    (drop_ins / "20-b.json").write_text('{"model": "haiku"}')
    (drop_ins / "10-a.json").write_text('{"model": "opus", "permissions": {"deny": ["Write"]}}')
    (drop_ins / ".hidden.json").write_text('{"model": "zip"}')
    (drop_ins / "note.txt").write_text("no settings")
    files, faults = managed_settings(tmp_path)

    assert [file.rules("deny") for file in files] == [["Bash"], ["Write"], []]
    assert [file.values.get("model") for file in files] == [None, "opus", "haiku"]
    assert [fault.key for fault in faults] == ["permissions.allow", "model"]


@pytest.mark.feature("SET-01")
def test_managed_settings_that_cannot_be_read_keep_everything_from_starting(tmp_path):
    (tmp_path / "managed-settings.d").mkdir()
    (tmp_path / "managed-settings.d" / "1.json").write_text("{")
    with pytest.raises(SettingsError, match=r"1\.json:1: it is no JSON"):
        managed_settings(tmp_path)
