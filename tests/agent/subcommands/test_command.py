"""Subcommands beside those of servers, and words that are none."""

import json

import pytest

from claude_wrapper.agent.start.subcommand_names import SUBCOMMANDS, subcommand_at
from claude_wrapper.agent.subcommands.command import GROUPS
from claude_wrapper.testing import ScriptedModel, say


def test_the_names_are_those_of_the_table():
    assert set(SUBCOMMANDS) == set(GROUPS)


@pytest.mark.parametrize(
    ("argv", "at"),
    [
        (["mcp", "list"], 0),
        (["--verbose", "mcp"], 1),
        (["--model", "x", "mcp"], 2),
        (["--model=x", "mcp"], 1),
        (["-p", "mcp"], None),
        (["--print", "mcp"], None),
        (["--add-dir", "mcp"], None),
        (["fix", "mcp"], None),
        (["--", "mcp"], None),
        ([], None),
        (["--model"], None),
    ],
)
def test_a_subcommand_is_the_first_word(argv, at):
    assert subcommand_at(argv) == at


@pytest.mark.feature("CLI-14")
def test_in_print_mode_the_word_is_a_prompt(workspace):
    with ScriptedModel([say("hi")]) as model:
        assert workspace.run(model, "-p", "doctor")[:2] == (0, "hi\n")


@pytest.mark.feature("CLI-14")
@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("docter",), "Did you mean doctor?"),
        (("mpc",), "Did you mean mcp?"),
        (("update",), "pip install"),
        (("install", "latest"), "pip install"),
        (("setup-token",), "ANTHROPIC_API_KEY"),
        (("auth",), "Usage:"),
        (("auth", "login"), "ANTHROPIC_API_KEY"),
        (("plugin", "install", "x"), "--plugin-dir"),
        (("plugin",), "Usage:"),
        (("agents",), "--json"),
        (("agents", "--json", "--nope"), "unknown option '--nope'"),
        (("purge",), "Name a folder"),
        (("purge", "."), "Nothing is kept"),
        (("purge", ".", "--all"), "cannot be used"),
    ],
)
def test_what_this_agent_does_not_do_is_refused(command, argv, text):
    code, out, err = command(*argv)

    assert (code, out) == (1, "")
    assert text in err


@pytest.mark.feature("CLI-14")
@pytest.mark.parametrize("argv", [("mcp", "--help"), ("mcp", "add", "-h"), ("doctor",), ("purge", "--help")])
def test_help_and_doctor_go_to_stdout(command, argv):
    code, out, err = command(*argv)

    assert (code, err) == (0, "")
    assert out


@pytest.mark.feature("CLI-14", "ENV-01")
@pytest.mark.parametrize(
    ("env", "code", "method", "provider"),
    [
        ({}, 1, "none", "firstParty"),
        ({"ANTHROPIC_API_KEY": "sk-secret"}, 0, "api_key", "firstParty"),
        ({"ANTHROPIC_AUTH_TOKEN": "secret"}, 0, "oauth_token", "firstParty"),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, 0, "third_party", "bedrock"),
    ],
)
def test_auth_status_tells_what_signs_requests_but_not_the_key(command, env, code, method, provider):
    found, out, _ = command("auth", "status", env=env)

    about = json.loads(out)
    assert (found, about["authMethod"], about["apiProvider"]) == (code, method, provider)
    assert about["loggedIn"] is (code == 0)
    assert "secret" not in out
    assert command("auth", "status", "--text", env=env)[0] == code


@pytest.mark.feature("CLI-14")
def test_agents_lists_none(command):
    assert command("agents", "--json")[:2] == (0, "[]\n")


@pytest.mark.feature("CLI-14")
def test_purge_deletes_what_is_kept_of_a_folder(workspace, command):
    with ScriptedModel([say("hi")]) as model:
        workspace.run(model, "-p", "hi")
    assert workspace.transcripts()

    assert command("purge", ".")[0] == 1
    assert command("purge", ".", "--dry-run")[0] == 0
    assert workspace.transcripts()
    assert command("purge", ".", "-y")[0] == 0
    assert not workspace.transcripts()
