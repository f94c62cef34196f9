"""The command line: arguments to values."""

import pytest

from claude_wrapper.agent.start.cli import UsageError, help_text, parse_arguments
from claude_wrapper.agent.start.flags import FLAGS


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.field)
def test_every_flag_is_understood_in_both_forms(flag):
    value = flag.choices[0] if flag.choices else "x"
    for name in flag.names.split():
        if flag.kind == "switch":
            assert parse_arguments([name]).has(flag.field)
            continue
        two, one = parse_arguments([name, value]), parse_arguments([f"{name}={value}"])
        assert two == one
        given = two.list(flag.field) if flag.kind in {"list", "many", "each"} else [two.value(flag.field)]
        assert given == [value]


@pytest.mark.feature("CLI-06")
def test_lists_are_split_outside_parentheses_only():
    found = parse_arguments(["--allowedTools", "Bash(git log *),Read Edit(a, b)", "Write"])

    assert found.list("allowed_tools") == ["Bash(git log *)", "Read", "Edit(a, b)", "Write"]


def test_json_and_paths_are_not_split():
    found = parse_arguments(["--mcp-config", '{"a": 1, "b": 2}', "--add-dir", "a b", "c"])

    assert found.list("mcp_config") == ['{"a": 1, "b": 2}']
    assert found.list("add_dirs") == ["a b", "c"]


def test_a_repeated_list_goes_on():
    found = parse_arguments(["--add-dir", "a", "--add-dir=b"])

    assert found.list("add_dirs") == ["a", "b"]


def test_an_empty_list_is_there_and_empty():
    for argv in (["--tools", ""], ["--tools="]):
        found = parse_arguments(argv)
        assert found.has("tools")
        assert found.list("tools") == []


def test_a_value_may_look_like_a_flag():
    assert parse_arguments(["--system-prompt", "--be brief"]).value("system_prompt") == "--be brief"


def test_the_value_of_resume_may_be_left_out():
    found = parse_arguments(["--resume", "--model", "x"])

    assert (found.value("resume"), found.value("model")) == ("", "x")


def test_words_are_the_prompt():
    assert parse_arguments(["-p", "fix", "--model", "x", "it"]).words == ["fix", "it"]
    assert parse_arguments(["-p", "--", "--model", "x"]).words == ["--model", "x"]


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["--modle", "x"], "error: unknown option '--modle'\n(Did you mean --model?)"),
        (["--verb"], "error: unknown option '--verb'\n(Did you mean --verbose?)"),
        (["-x"], "error: unknown option '-x'"),
        (["-mx"], "error: unknown option '-mx'"),
        (["--model"], "error: option '--model <model>' argument missing"),
        (["--add-dir"], "error: option '--add-dir <directories...>' argument missing"),
        (["--print=yes"], "error: unknown option '--print=yes'"),
        (
            ["--output-format", "xml"],
            "'--output-format <format>' argument 'xml' is invalid. It takes one of: text, ",
        ),
        (["--prompt-suggestions=maybe"], "'--prompt-suggestions [value]' argument 'maybe' is invalid."),
        (["--bg", "x"], "--bg needs an interactive session"),
        (["--worktree"], "git worktree add"),
    ],
)
def test_mistakes_are_named(argv, text):
    with pytest.raises(UsageError) as caught:
        parse_arguments(argv)
    assert text in caught.value.line


def test_letters_may_share_a_dash():
    found = parse_arguments(["-pc", "-rabc", "-nTitle", "go"])

    assert (found.switches, found.words) == ({"print_mode", "continue_newest"}, ["go"])
    assert (found.value("resume"), found.value("name")) == ("abc", "Title")


@pytest.mark.parametrize(
    "flag", ["--ide", "--chrome", "--no-chrome", "--brief", "--from-pr=1", "--plugin-url=x"]
)
def test_flags_of_programs_with_a_screen_are_taken_and_mean_nothing(flag):
    assert parse_arguments(["-p", flag, "--", "go"]).words == ["go"]


def test_a_flag_for_one_folder_leaves_the_prompt_alone():
    found = parse_arguments(["-p", "--plugin-dir", "a", "--plugin-dir", "b", "go"])

    assert (found.list("plugin_dirs"), found.words) == (["a", "b"], ["go"])


def test_the_help_text_names_every_flag():
    text = help_text()
    assert all(name in text for flag in FLAGS for name in flag.names.split())
