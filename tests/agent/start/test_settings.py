"""Settings: which files count, what wins, what must not be trusted."""

import json
import os
import subprocess

import pytest

from claude_wrapper.agent.config.sources import SettingsError
from claude_wrapper.agent.start.cli import UsageError, parse_arguments
from claude_wrapper.agent.start.load_settings import load_settings


@pytest.fixture
def place(tmp_path):
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def load(place):
    def go(*argv, **environ):
        known = {"HOME": str(place / "home"), "IS_SANDBOX": "1", **environ}
        return load_settings(parse_arguments(argv), known, place / "project")

    return go


@pytest.fixture
def write(place):
    paths = {
        "user": place / "home" / ".claude" / "settings.json",
        "project": place / "project" / ".claude" / "settings.json",
        "local": place / "project" / ".claude" / "settings.local.json",
    }

    def go(source, values):
        paths[source].write_text(values if isinstance(values, str) else json.dumps(values))
        return paths[source]

    return go


def rules(settings, behavior):
    return {(str(rule.rule), rule.source) for rule in settings.policy.of(behavior)}


@pytest.mark.feature("SET-01", "PERM-04")
def test_lists_of_all_sources_are_in_force_together(load, write):
    write("user", {"permissions": {"allow": ["Read"]}})
    write("local", {"permissions": {"deny": ["Bash(rm *)"]}})
    settings = load("--settings", '{"permissions": {"ask": ["Write"]}}', "--allowedTools", "Edit")

    assert rules(settings, "allow") == {("Read", "userSettings"), ("Edit", "cliArg")}
    assert rules(settings, "deny") == {("Bash(rm *)", "localSettings")}
    assert rules(settings, "ask") == {("Write", "flagSettings")}


@pytest.mark.feature("SET-01", "SET-08")
def test_of_single_values_the_nearest_wins(load, write):
    write("user", {"model": "user", "effortLevel": "low"})
    write("project", {"model": "project"})
    assert load().model.name == "project"
    write("local", {"model": "local"})
    assert load().model.name == "local"
    assert load("--settings", '{"model": "given"}').model.name == "given"
    assert load("--settings", '{"model": "given"}', ANTHROPIC_MODEL="env").model.name == "env"
    assert load("--model", "flag", ANTHROPIC_MODEL="env").model.name == "flag"
    assert load().model.wishes.effort == "low"
    assert load("--effort", "high", CLAUDE_CODE_EFFORT_LEVEL="max").model.wishes.effort == "max"


@pytest.mark.feature("SET-02")
@pytest.mark.parametrize(
    ("argv", "sources"),
    [
        ((), {"userSettings", "projectSettings", "localSettings"}),
        (("--setting-sources=",), set()),
        (("--setting-sources=user",), {"userSettings"}),
        (("--setting-sources", "project,local"), {"projectSettings", "localSettings"}),
    ],
)
def test_only_the_chosen_files_are_read(load, write, argv, sources):
    for source in ("user", "project", "local"):
        write(source, {"permissions": {"deny": [f"Bash({source})"]}})

    assert {rule.source for rule in load(*argv).policy.of("deny")} == sources


@pytest.mark.feature("SET-05")
def test_a_broken_file_counts_as_empty(load, write):
    write("user", "{not json")
    write("project", {"permissions": {"deny": ["Bash", 7, "(("]}, "nosuch": 1})
    settings = load()

    assert rules(settings, "deny") == {("Bash", "projectSettings")}
    assert any("((" in warning for warning in settings.warnings)


@pytest.mark.feature("PERM-32")
def test_grants_of_an_untrusted_project_are_left_out_and_said_so(load, write, place):
    write("project", {"permissions": {"allow": ["Bash"], "ask": ["Read"], "additionalDirectories": ["/tmp"]}})
    settings = load()

    assert rules(settings, "allow") == set()
    assert settings.policy.directories == ()
    assert rules(settings, "ask") == {("Read", "projectSettings")}
    assert settings.notes[0].startswith(
        "Ignoring 1 permissions.allow entry from .claude/settings.json: this workspace has not been trusted."
    )
    assert settings.notes[1].startswith("Ignoring 1 permissions.additionalDirectories entry")

    trusted = {"projects": {str(place / "project"): {"hasTrustDialogAccepted": True}}}
    (place / "home" / ".claude.json").write_text(json.dumps(trusted))
    assert rules(load(), "allow") == {("Bash", "projectSettings")}


@pytest.mark.feature("PERM-19")
def test_the_mode_to_start_in(load, write):
    assert load().policy.mode == "default"
    assert load("--permission-mode", "manual").policy.mode == "default"
    write("project", {"permissions": {"defaultMode": "auto"}})
    assert load().policy.mode == "default"
    write("user", {"permissions": {"defaultMode": "plan"}})
    assert load().policy.mode == "plan"
    assert load("--permission-mode", "acceptEdits").policy.mode == "acceptEdits"
    assert load("--dangerously-skip-permissions").policy.mode == "bypassPermissions"
    assert load("--allow-dangerously-skip-permissions").policy.bypass_available


@pytest.mark.feature("SET-07")
def test_variables_of_settings_replace_those_of_the_shell(load, write):
    write("user", {"env": {"A": "user", "B": 7, "C": True, "D": ["x"]}})
    write("local", {"env": {"A": "local"}})
    settings = load(A="shell", E="shell")

    assert settings.environ["A"] == "local"
    assert settings.environ["B"] == "7"
    assert settings.environ["C"] == "true"
    assert "D" not in settings.environ
    assert settings.environ["E"] == "shell"


def test_what_the_settings_hold_is_not_printed_with_them(load):
    assert "sk-secret" not in repr(load(ANTHROPIC_API_KEY="sk-secret"))


@pytest.mark.feature("PERM-34")
def test_added_folders_that_are_not_there_are_told_of_and_left_out(load, place):
    (place / "other").mkdir()
    settings = load("--add-dir", str(place / "other"), str(place / "none"))

    assert [d.path for d in settings.policy.directories] == [str(place / "other")]
    assert any("there is no folder" in text for text in settings.warnings)


@pytest.mark.feature("SET-04")
def test_given_settings_are_a_file_or_json(load, place):
    path = place / "s.json"
    path.write_text('{"model": "from file"}')
    assert load("--settings", str(path)).model.name == "from file"
    path.write_bytes(b'{"a": "' + b"x" * (2 * 1024 * 1024) + b'"}')
    with pytest.raises(SettingsError, match="2MiB limit"):
        load("--settings", str(path))
    with pytest.raises(SettingsError, match="not a file"):
        load("--settings", str(place))


def test_prompts_may_be_files(load, place):
    (place / "project" / "p.txt").write_text("Be brief.")
    assert load("--system-prompt-file", "p.txt").system_prompt == "Be brief."
    assert (
        load("--append-system-prompt", "a", "--append-system-prompt-file", "p.txt").append_system_prompt
        == "Be brief.\n\na"
    )
    assert load("--system-prompt", "x", "--system-prompt-file", "p.txt").system_prompt == "Be brief.\n\nx"
    with pytest.raises(UsageError, match="System prompt file not found"):
        load("--system-prompt-file", "none.txt")


@pytest.mark.feature("ENV-11")
@pytest.mark.parametrize(
    ("given", "limit"),
    [("3", 3), ("0", None), ("", None), ("-1", 1), ("1.5", 1), ("0x2", 2), ("Infinity", None)],
)
def test_a_limit_of_turns_is_any_number(load, given, limit):
    assert load(f"--max-turns={given}", CLAUDE_CODE_MAX_TURNS="9").max_turns == limit
    assert load(CLAUDE_CODE_MAX_TURNS="9").max_turns == 9


@pytest.mark.parametrize(
    ("argv", "environ", "text"),
    [
        (("--max-turns", "NaN"), {}, "It takes a number."),
        (("--max-thinking-tokens", "x"), {}, "It takes a number."),
        (("--task-budget", "0"), {}, "a whole number above zero"),
        (("--max-budget-usd", "0"), {}, "a number above zero"),
        (("--autocompact", "50k"), {}, "100k tokens at least"),
        ((), {"CLAUDE_CODE_MAX_TURNS": "0"}, "CLAUDE_CODE_MAX_TURNS takes a whole number above zero"),
        (("--agents", "{bad"), {}, "Invalid --agents configuration"),
        (("--agents", '{"a": {"prompt": "p"}}'), {}, "a.description is no text"),
        (("--resume-session-at", "x"), {}, "needs --resume"),
        (("--replay-user-messages",), {}, "needs both formats"),
        (("--include-partial-messages",), {}, "needs --output-format"),
    ],
)
def test_values_that_mean_nothing_are_refused(load, argv, environ, text):
    with pytest.raises(UsageError) as caught:
        load(*argv, **environ)
    assert text in caught.value.line


@pytest.mark.parametrize("window", ["auto", "100k", "200", "200000"])
def test_the_window_may_be_written_in_thousands(load, window):
    load("--autocompact", window)


@pytest.mark.parametrize(
    ("environ", "shown"),
    [
        ({}, None),
        ({"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}, "host"),
        ({"claude_code_sdk_reads_session_state": "1"}, "host"),
        ({"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}, "all"),
    ],
)
def test_who_is_told_of_the_sessions_state(load, environ, shown):
    assert load(**environ).state_events == shown


@pytest.mark.feature("SET-08")
def test_the_default_model_of_the_environment_counts_when_nothing_else_is_said(load, write):
    assert load(ANTHROPIC_DEFAULT_MODEL="a").model.name == "a"
    write("user", {"model": "b", "fallbackModel": ["c", "d"]})
    assert load(ANTHROPIC_DEFAULT_MODEL="a").model.name == "b"
    assert load(ANTHROPIC_DEFAULT_MODEL="a", ANTHROPIC_MODEL="e").model.name == "e"
    assert load("--model", "f", ANTHROPIC_MODEL="e").model.name == "f"
    assert load().model.fallbacks == ("c", "d")
    write("local", {"fallbackModel": ["g"]})
    assert load().model.fallbacks == ("g",)
    assert load("--fallback-model", "h").model.fallbacks == ("h",)


@pytest.mark.feature("SET-09", "SET-01")
def test_objects_and_lists_join_and_choices_do_not(load, write):
    write("user", {"sandbox": {"a": 1, "b": [1, 2]}, "availableModels": ["x"], "apiKeyHelper": "echo k"})
    write("project", {"sandbox": {"b": [2, 3], "c": True}, "availableModels": ["y"]})
    settings = load()

    assert settings.values["sandbox"] == {"a": 1, "b": [1, 2, 3], "c": True}
    assert settings.values["availableModels"] == ["y"]
    assert settings.api_key_helper == "echo k"


@pytest.mark.feature("SET-01", "PERM-04")
def test_the_administrator_may_let_no_other_rules_count(load, write):
    write("user", {"permissions": {"allow": ["Read"], "deny": ["Write"]}})
    managed = {
        "permissions": {"allow": ["Edit"], "defaultMode": "plan"},
        "allowManagedPermissionRulesOnly": True,
    }
    settings = load("--managed-settings", json.dumps(managed), "--allowedTools", "Bash")

    assert {str(rule.rule) for rule in settings.policy.rules} == {"Edit"}
    assert settings.policy.mode == "default"
    assert settings.policy.managed_only


@pytest.mark.feature("SET-07", "PERM-33")
def test_a_folder_sets_variables_but_not_where_the_agent_keeps_its_things(load, write):
    write("project", {"env": {"A": "1", "CLAUDE_CONFIG_DIR": "/x", "CLAUDE_CODE_PROCESS_WRAPPER": "y"}})
    write("user", {"env": {"B": ""}})
    settings = load(B="shell")

    assert settings.environ["A"] == "1"
    assert settings.environ["B"] == ""
    assert "CLAUDE_CONFIG_DIR" not in settings.environ
    assert "CLAUDE_CODE_PROCESS_WRAPPER" not in settings.environ


@pytest.mark.feature("PERM-32")
def test_only_the_repository_itself_can_be_trusted_and_local_settings_in_git_need_that_too(
    load, write, place
):
    project = place / "project"
    git = {"PATH": os.environ["PATH"], "HOME": str(place)}
    for command in (["init", "-q"], ["add", "-f", ".claude/settings.local.json"]):
        write("local", {"permissions": {"allow": ["Write"]}})
        assert rules(load(), "allow") == {("Write", "localSettings")}
        subprocess.run(["git", *command], cwd=project, env=git, check=True)
    settings = load()
    assert rules(settings, "allow") == set()
    assert "from .claude/settings.local.json" in settings.notes[0]

    state = place / "home" / ".claude.json"
    state.write_text(json.dumps({"projects": {str(place): {"hasTrustDialogAccepted": True}}}))
    assert rules(load(), "allow") == set()
    state.write_text(json.dumps({"projects": {str(project): {"hasTrustDialogAccepted": True}}}))
    assert rules(load(), "allow") == {("Write", "localSettings")}


@pytest.mark.feature("PERM-18", "PERM-19")
def test_settings_take_modes_away_and_nothing_gives_them_back(load, write):
    write(
        "project",
        {"permissions": {"disableBypassPermissionsMode": "disable", "defaultMode": "bypassPermissions"}},
    )
    assert load().policy.mode == "default"
    settings = load("--dangerously-skip-permissions")
    assert (settings.policy.mode, settings.policy.bypass_available) == ("default", False)
    assert settings.policy.bypass_disabled


@pytest.mark.feature("PERM-35")
def test_a_restricted_session_reads_no_settings_and_takes_no_bypass(load, write):
    write("user", {"permissions": {"allow": ["Write"]}})
    settings = load("--restricted")
    assert rules(settings, "allow") == set()
    assert settings.policy.restricted
    with pytest.raises(UsageError, match="not supported in restricted mode"):
        load("--restricted", "--dangerously-skip-permissions")


@pytest.mark.feature("SET-03")
def test_settings_of_the_folders_around_are_not_read(write, place):
    write("project", {"model": "around"})
    write("user", {"model": "user"})
    below = place / "project" / "below"
    below.mkdir()
    settings = load_settings(parse_arguments([]), {"HOME": str(place / "home")}, below)

    assert settings.model.name == "user"
