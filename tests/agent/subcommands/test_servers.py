"""`mcp add` and its like: what they write, print and refuse."""

import json

import pytest


def state(workspace):
    return json.loads((workspace.home / ".claude.json").read_text())


@pytest.mark.feature("CLI-14")
def test_servers_are_kept_where_their_scope_says(workspace, command):
    command("mcp", "add", "mine", "-e", "A=1", "B=2", "--", "prog", "--flag")
    command("mcp", "add", "-s", "user", "-t", "http", "web", "http://x/", "-H", "X-A: b")
    command("mcp", "add", "--scope=project", "shared", "--", "prog")

    kept = state(workspace)
    assert kept["projects"][str(workspace.project)]["mcpServers"] == {
        "mine": {"type": "stdio", "command": "prog", "args": ["--flag"], "env": {"A": "1", "B": "2"}}
    }
    assert kept["mcpServers"] == {"web": {"type": "http", "url": "http://x/", "headers": {"X-A": "b"}}}
    assert json.loads((workspace.project / ".mcp.json").read_text()) == {
        "mcpServers": {"shared": {"type": "stdio", "command": "prog", "args": [], "env": {}}}
    }


@pytest.mark.feature("CLI-14")
def test_what_else_the_file_holds_stays(workspace, command):
    (workspace.home / ".claude.json").write_text('{"userID": "u", "projects": {"/x": {"a": 1}}}')

    code, out, _ = command("mcp", "add-json", "j", '{"command": "prog"}')

    kept = state(workspace)
    assert (code, out) == (0, "Added stdio MCP server j to local config\n")
    assert (kept["userID"], kept["projects"]["/x"]) == ("u", {"a": 1})


@pytest.mark.feature("CLI-14")
def test_json_may_come_on_stdin(workspace):
    code, _, _ = workspace.run(None, "mcp", "add-json", "-s", "user", "j", "-", stdin=b'{"command": "p"}')

    assert (code, state(workspace)["mcpServers"]) == (0, {"j": {"command": "p"}})


@pytest.mark.feature("CLI-14")
@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("add",), "missing required argument 'name'"),
        (("add", "x"), "missing required argument 'commandOrUrl'"),
        (("add", "a b", "x"), "Invalid name a b"),
        (("add", "workspace", "x"), "reserved"),
        (("add", "-s", "bad", "x", "y"), "Invalid scope: bad"),
        (("add", "-t", "bad", "x", "y"), "Invalid transport type: bad"),
        (("add", "-t", "http", "x", "http://x/", "-H", "bad"), 'Invalid header format: "bad"'),
        (("add", "x", "y", "-e", "bad"), "Invalid environment variable: bad"),
        (("add", "x", "y", "-e"), "argument missing"),
        (("add", "--scop", "x", "y"), "unknown option '--scop'\n(Did you mean --scope?)"),
        (("add-json", "x"), "missing required argument 'json'"),
        (("add-json", "x", "{bad"), "no JSON object"),
        (("add-json", "x", "[1]"), "no JSON object"),
        (("add-json", "x", '{"type": "stdio"}'), "command:"),
        (("add-json", "x", '{"type": "http"}'), "url:"),
        (("add-json", "x", '{"type": "frob"}'), "frob"),
        (("get", "none"), 'No MCP server named "none"'),
        (("remove", "none"), 'No MCP server named "none"'),
        (("lst",), "unknown command 'lst'\n(Did you mean list?)"),
        ((), "Usage:"),
        (("login", "x"), "browser"),
    ],
)
def test_what_cannot_be_done_is_told_on_stderr_and_exits_1(workspace, command, argv, text):
    code, out, err = command("mcp", *argv)

    assert (code, out) == (1, "")
    assert text in err
    assert not (workspace.home / ".claude.json").exists()


@pytest.mark.feature("CLI-14")
def test_a_file_that_is_no_json_is_left_alone(workspace, command):
    (workspace.home / ".claude.json").write_text("{broken")

    code, _, err = command("mcp", "add", "x", "y")

    assert (code, "not a settings file" in err) == (1, True)
    assert (workspace.home / ".claude.json").read_text() == "{broken"


@pytest.mark.feature("CLI-14")
def test_list_and_get_tell_who_answers(workspace, small_server):
    workspace.run(None, "mcp", "add", "good", "--", *small_server)
    workspace.run(None, "mcp", "add", "bad", "--", "no-such-program", "-e")
    workspace.run(None, "mcp", "add", "-s", "project", "theirs", "--", *small_server)
    workspace.run(
        None, "mcp", "add", "-e", "TOKEN=secret-value", "-s", "user", "hush", "--", "no-such-program"
    )

    _, out, _ = workspace.run(None, "mcp", "list")
    rows = dict(line.split(": ", 1) for line in out.splitlines())
    assert rows["good"].endswith("✔ Connected")
    assert "✘ Failed to connect" in rows["bad"]
    assert "Pending approval" in rows["theirs"]

    code, out, _ = workspace.run(None, "mcp", "get", "hush")
    assert (code, "TOKEN" in out, "secret-value" in out) == (0, True, False)


@pytest.mark.feature("CLI-14")
def test_remove_asks_which_one_is_meant(workspace, command):
    for scope in ("user", "local"):
        command("mcp", "add", "-s", scope, "x", "--", "prog")

    code, _, err = command("mcp", "remove", "x")
    assert (code, "mcp remove x -s user" in err) == (1, True)
    assert command("mcp", "remove", "x", "-s", "local")[0] == 0
    assert command("mcp", "remove", "x")[0] == 0
    assert state(workspace)["mcpServers"] == {}


@pytest.mark.feature("CLI-14")
def test_a_name_is_taken_once_in_a_scope(command):
    command("mcp", "add", "x", "--", "prog")

    code, _, err = command("mcp", "add", "x", "--", "other")

    assert (code, err) == (1, "MCP server x already exists in local config\n")
