"""Control requests about MCP servers: how they are, switching, reconnecting, replacing, calling."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, say


@pytest.fixture
def talk(workspace, program):
    """A running agent with the server `x` of the command line, and `mine` of the user."""
    (workspace.home / ".claude.json").write_text(json.dumps({"mcpServers": {"mine": program.config("mine")}}))
    config = json.dumps({"mcpServers": {"x": program.config(env={"SECRET": "s3cret"})}})
    with ScriptedModel([say("one"), say("two"), say("three")]) as model:
        talk = workspace.talk(model, "--mcp-config", config)
        talk.initialize()
        talk.prompt()
        talk.result()
        yield talk


def states(talk):
    servers = talk.ask("mcp_status")["response"]["mcpServers"]
    return {each["name"]: each["status"] for each in servers}


def tools_of_next_turn(talk):
    talk.prompt()
    talk.result()
    return [name for name in talk.of("system", "init")[-1]["tools"] if name.startswith("mcp__")]


@pytest.mark.feature("MCP-16")
def test_the_status_tells_what_a_server_is_but_not_its_variables(talk):
    answer = talk.ask("mcp_status")["response"]

    assert [each["name"] for each in answer["mcpServers"]] == ["mine", "x"]
    [mine, x] = answer["mcpServers"]
    assert (mine["scope"], mine["source"], x["scope"], x["source"]) == ("user", "user", "dynamic", "dynamic")
    assert x["serverInfo"] == {"name": "program", "version": "1"}
    assert x["transport"] == "stdio"
    assert [tool["name"] for tool in x["tools"]] == ["do"]
    assert x["config"].keys() == {"type", "command", "args"}
    assert "s3cret" not in json.dumps(answer)


@pytest.mark.feature("MCP-16")
def test_a_server_that_is_switched_off_has_no_tools_until_it_is_switched_on(talk):
    assert talk.ask("mcp_toggle", serverName="x", enabled=False)["subtype"] == "success"
    assert states(talk) == {"mine": "connected", "x": "disabled"}
    assert tools_of_next_turn(talk) == ["mcp__mine__do"]
    refused = talk.ask("mcp_reconnect", serverName="x")
    assert (refused["subtype"], "disabled" in refused["error"]) == ("error", True)

    assert talk.ask("mcp_toggle", serverName="x", enabled=True)["subtype"] == "success"

    assert states(talk) == {"mine": "connected", "x": "connected"}
    assert tools_of_next_turn(talk) == ["mcp__mine__do", "mcp__x__do"]


@pytest.mark.feature("MCP-16")
def test_a_server_that_is_switched_off_while_it_is_greeted_stays_off(workspace, program, eventually):
    (workspace.home / ".claude.json").write_text(json.dumps({"mcpServers": {"mine": program.config("mute")}}))
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        talk.initialize()
        eventually(lambda: program.asked("initialize"))
        talk.ask("mcp_toggle", serverName="mine", enabled=False)
        talk.prompt()
        talk.result()

    assert talk.of("system", "init")[0]["mcp_servers"][0]["status"] == "disabled"


@pytest.mark.feature("MCP-16")
def test_switching_a_server_of_a_file_is_remembered_for_the_project(talk, workspace):
    def kept():
        return json.loads((workspace.home / ".claude.json").read_text())

    talk.ask("mcp_toggle", serverName="mine", enabled=False)
    talk.ask("mcp_toggle", serverName="x", enabled=False)

    assert kept()["projects"][str(workspace.project)] == {"disabledMcpServers": ["mine"]}
    assert "mine" in kept()["mcpServers"]

    talk.ask("mcp_toggle", serverName="mine", enabled=True)

    assert kept()["projects"][str(workspace.project)] == {"disabledMcpServers": []}


@pytest.mark.feature("MCP-16")
def test_a_server_is_started_anew_when_it_is_reconnected(talk, program):
    assert talk.ask("mcp_reconnect", serverName="x")["subtype"] == "success"

    assert len(program.starts) == 3
    assert [note for note in program.noted if "ended" in note]
    assert states(talk)["x"] == "connected"


@pytest.mark.parametrize("request_", [("mcp_reconnect", {}), ("mcp_toggle", {"enabled": True})])
def test_a_server_that_nobody_knows_is_refused(talk, request_):
    subtype, fields = request_

    assert talk.ask(subtype, serverName="nosuch", **fields)["error"] == "Server not found: nosuch"


@pytest.mark.feature("MCP-16")
def test_servers_of_the_host_are_added_kept_changed_and_removed(talk, program):
    def put(**servers):
        answer = talk.ask("mcp_set_servers", servers=servers)["response"]
        return answer["added"], answer["removed"], list(answer["errors"])

    a, b = program.config("a"), program.config("b")

    assert put(a=a) == (["a"], [], [])
    assert put(a=a, b=b) == (["b"], [], [])
    assert states(talk).keys() == {"mine", "x", "a", "b"}
    assert put(a=program.config("other")) == (["a"], ["b"], [])
    assert put(a=program.config("other"), bad={"command": "/no/such"}, worse={"type": "http"}) == (
        ["bad", "worse"],
        [],
        ["worse", "bad"],
    )
    assert states(talk)["bad"] == states(talk)["worse"] == "failed"
    assert tools_of_next_turn(talk) == ["mcp__a__do", "mcp__mine__do", "mcp__x__do"]
    assert put() == ([], ["a", "bad", "worse"], [])
    assert states(talk) == {"mine": "connected", "x": "connected"}
    assert tools_of_next_turn(talk) == ["mcp__mine__do", "mcp__x__do"]


def test_servers_that_run_in_the_host_stay_only_when_they_are_named_again(workspace, program):
    inside = {"type": "sdk", "name": "calc"}
    manifest = {
        "initializeResult": {"protocolVersion": "2025-11-25", "capabilities": {}},
        "toolsListResult": {"tools": [{"name": "add"}]},
    }
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        talk.initialize(sdkMcpServers=["calc"], sdkMcpServerManifests={"calc": manifest})

        kept = talk.ask("mcp_set_servers", servers={"calc": inside, "a": program.config()})["response"]
        assert (kept["added"], kept["removed"]) == (["a"], [])
        assert states(talk) == {"calc": "connected", "a": "connected"}

        gone = talk.ask("mcp_set_servers", servers={"a": program.config()})["response"]
        assert (gone["added"], gone["removed"]) == ([], ["calc"])
        assert states(talk) == {"a": "connected"}


def test_a_server_of_the_host_takes_the_place_of_one_of_its_name(talk, program):
    talk.ask("mcp_set_servers", servers={"mine": program.config("other")})

    servers = talk.ask("mcp_status")["response"]["mcpServers"]
    assert {each["name"]: each["scope"] for each in servers} == {"x": "dynamic", "mine": "dynamic"}


@pytest.mark.feature("MCP-12")
def test_a_denied_server_cannot_be_added_by_the_host(workspace):
    denied = json.dumps({"deniedMcpServers": [{"serverCommand": ["bad", "one"]}]})
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model, "--managed-settings", denied)
        talk.initialize()

        answer = talk.ask("mcp_set_servers", servers={"a": {"command": "bad", "args": ["one"]}})["response"]

        assert list(answer["errors"]) == ["a"]
        assert states(talk) == {}
        assert talk.ask("mcp_set_servers", servers={})["response"]["removed"] == ["a"]


def test_a_host_calls_a_tool_without_the_model(talk):
    answer = talk.ask("mcp_call", tool="mcp__x__do", arguments={"x": "it"})

    assert answer["response"] == {"content": [{"type": "text", "text": "did it"}]}
    assert talk.ask("mcp_call", tool="mcp__x__do", arguments={"x": "fault"})["error"] == "it went wrong"
    assert talk.ask("mcp_call", tool="mcp__no__do")["error"] == "MCP server not connected: no"
    assert "fully-qualified" in talk.ask("mcp_call", tool="do")["error"]


def test_a_host_reads_a_page_of_a_server_only(talk):
    def read(name, uri):
        return talk.ask("mcp_read_resource", serverName=name, uri=uri)

    assert read("x", "ui://page")["response"]["contents"][0]["uri"] == "ui://page"
    assert "ui://" in read("x", "file:///etc/passwd")["error"]
    assert read("nosuch", "ui://page")["error"] == "Server not found: nosuch"


def test_servers_of_an_awaited_handshake_are_used(workspace, program):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model, "--await-initialize")
        answer = talk.initialize(mcpServers={"x": program.config(), "wrong": {"type": "http"}})
        talk.prompt()
        talk.result()

    [init] = talk.of("system", "init")
    assert answer["mcp_servers_applied"] is True
    assert init["mcp_servers"] == [{"name": "x", "status": "connected", "source": "dynamic"}]
    assert [each["name"] for each in init["mcp_server_errors"]] == ["wrong"]
