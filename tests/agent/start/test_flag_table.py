"""Every flag of the command line: taken, or refused with a sentence and the code of a wrong start."""

import json

import pytest

from claude_wrapper.agent.__main__ import main
from claude_wrapper.agent.start.flags import FLAGS
from claude_wrapper.testing import ScriptedModel, say

UUID = "0b577f2b-32f0-45f5-957e-e3b3b79bf3fa"
_NEEDS_MORE = {
    "allow_skip_permissions",
    "await_initialize",
    "continue_newest",
    "help",
    "init_only",
    "initialize_fields",
    "managed_settings_in_initialize",
    "print_mode",
    "resume",
    "resume_drops_turn",
    "resume_session_at",
    "rewind_files",
    "replay_user_messages",
    "skip_permissions",
    "version",
}
"""Flags that need a host, an older session or a right of their own; tests of those show them."""
_VALUES = {
    "add_dirs": ".",
    "agents": '{"a": {"description": "d", "prompt": "p"}}',
    "append_subagent_system_prompt": "x",
    "autocompact": "auto",
    "effort": "low",
    "input_format": "text",
    "json_schema": '{"type": "object"}',
    "managed_settings": "{}",
    "max_budget_usd": "5",
    "max_thinking_tokens": "2000",
    "max_turns": "3",
    "mcp_config": '{"mcpServers": {}}',
    "model": "claude-sonnet-4-5",
    "output_format": "stream-json",
    "project_config_root": ".",
    "session_id": UUID,
    "setting_sources": "user",
    "settings": "{}",
    "task_budget": "20000",
}
_NOT_TOGETHER = {
    "restricted",
    "bare",
    "agent",
    "permission_prompt_tool",
    "json_schema",
    "no_session_persistence",
}


def words_of(flag):
    """The flag as a user writes it, with a value that it takes."""
    name = flag.names.split()[0]
    if flag.kind == "switch":
        return [name]
    value = _VALUES.get(flag.field) or (flag.choices[0] if flag.choices else "x.txt")
    return [f"{name}={value}"] if name.startswith("--") else [name, value]


@pytest.mark.feature("CLI-09", "CLI-10", "CLI-13")
def test_all_flags_that_go_together_go_together(workspace):
    (workspace.project / "x.txt").write_text("text of a file")
    flags = [flag for flag in FLAGS if flag.field not in _NEEDS_MORE | _NOT_TOGETHER]
    argv = [word for flag in flags for word in words_of(flag)]
    with ScriptedModel([say("hi")]) as model:
        code, out, err = workspace.run(model, "-p", *argv, "--", "go")

    frames = [json.loads(line) for line in out.splitlines()]
    assert code == 0, err
    assert frames[-1]["type"] == "result"
    assert frames[-1]["session_id"] == UUID


@pytest.mark.feature("CLI-09")
@pytest.mark.parametrize("field", sorted(_NOT_TOGETHER - {"agent", "json_schema", "permission_prompt_tool"}))
def test_flags_that_change_much_work_alone(workspace, field):
    flag = next(flag for flag in FLAGS if flag.field == field)
    with ScriptedModel([say("hi")]) as model:
        assert workspace.run(model, "-p", *words_of(flag), "--", "go")[:2] == (0, "hi\n")

    assert bool(workspace.transcripts()) is (field != "no_session_persistence")


WITH_VALUE = [flag for flag in FLAGS if flag.kind in {"value", "list", "many", "each"}]


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Start in this process what must not start; returns stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)

    def start(*argv):
        assert main(list(argv)) == 1
        out, err = capsys.readouterr()
        assert out == ""
        return err

    return start


@pytest.mark.feature("CLI-03")
@pytest.mark.parametrize("flag", WITH_VALUE, ids=lambda flag: flag.field)
def test_a_value_that_is_missing_is_missed(refused, flag):
    for name in flag.names.split():
        assert refused("-p", "go", name) == f"error: option '{flag.title}' argument missing\n"


@pytest.mark.feature("CLI-03")
@pytest.mark.parametrize("flag", [flag for flag in FLAGS if flag.choices], ids=lambda flag: flag.field)
def test_a_value_that_is_no_choice_is_told_with_the_choices(refused, flag):
    text = refused("-p", "go", f"{flag.names.split()[0]}=wild")

    assert text.startswith(f"error: option '{flag.title}' argument 'wild' is invalid.")
    assert all(choice in text for choice in flag.choices)


@pytest.mark.feature("CLI-03")
@pytest.mark.parametrize(
    "flag", [flag for flag in FLAGS if flag.kind == "switch"], ids=lambda flag: flag.field
)
def test_a_switch_takes_no_value(refused, flag):
    for name in flag.names.split():
        if name.startswith("--"):
            assert refused("-p", "go", f"{name}=x").startswith(f"error: unknown option '{name}=x'")


@pytest.mark.feature("CLI-03", "CLI-09", "CLI-10", "CLI-13")
@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("--modle", "x"), "unknown option '--modle'\n(Did you mean --model?)"),
        (("--max-turns", "abc"), "'abc' is invalid"),
        (("--max-turns=3", "--max-turns=x"), "'x' is invalid"),
        (("--max-budget-usd", "0"), "'0' is invalid"),
        (("--max-budget-usd", "-1"), "'-1' is invalid"),
        (("--max-budget-usd", "x"), "'x' is invalid"),
        (("--task-budget", "1.5"), "'1.5' is invalid"),
        (("--max-thinking-tokens", "x"), "'x' is invalid"),
        (("--autocompact", "5"), "'5' is invalid"),
        (("--settings", "/none.json"), "Settings file not found"),
        (("--settings", "[1]"), "Settings file not found"),
        (("--agents", "{bad"), "Invalid --agents configuration"),
        (("--agents", "[]"), "Invalid --agents configuration"),
        (("--agents", '{"a": {}}'), "a.description"),
        (("--agents", '{"a": {"description": "d", "prompt": "p", "tools": 3}}'), "a.tools"),
        (("--json-schema", "{bad"), "--json-schema"),
        (("--json-schema", '{"type": "nope"}'), "--json-schema"),
        (("--session-id", "nope"), "Invalid session ID"),
        (("--session-id", UUID, "--continue"), "--fork-session"),
        (("--resume",), "--resume needs"),
        (("--resume-session-at", "x"), "--resume"),
        (("--resume-drops-turn", "x"), "--resume-session-at"),
        (("--rewind-files", "x"), "--resume"),
        (("--output-format", "stream-json"), "requires --verbose"),
        (("--input-format", "stream-json"), "--output-format"),
        (("--output-format", "json", "--input-format", "stream-json"), "--output-format"),
        (("--include-partial-messages",), "--output-format"),
        (("--replay-user-messages",), "stream-json"),
        (("--prompt-suggestions",), "--output-format"),
        (("--system-prompt-file", "/no/such/file"), "not found"),
        (("--setting-sources", "nope"), "Invalid setting source: nope"),
        (("--mcp-config", "{bad"), "Invalid MCP configuration"),
        (("--mcp-config", "{}"), "Invalid MCP configuration"),
        (("--mcp-config", "none.json"), "MCP config file not found"),
        (("--worktree",), "--worktree"),
        (("--bg",), "--bg"),
    ],
)
def test_what_cannot_be_meant_is_told_before_the_start(refused, argv, text):
    assert text in refused("-p", "go", *argv)


def test_both_letters_ask_for_the_version(capsys):
    for name in ("-v", "-V", "--version"):
        assert main([name]) == 0
    assert len(set(capsys.readouterr().out.splitlines())) == 1
