"""MCP servers that run in the host: over the control channel."""

import json
from pathlib import Path

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

VERSION = "2025-11-25"
ADD = {"name": "add", "description": "adds", "inputSchema": {"type": "object", "properties": {"a": {}}}}
CONFIG = ("--mcp-config", json.dumps({"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}}))
ALLOW = ("--allowedTools", "mcp__calc__add")


def reply(talk, frame, result):
    message = frame["request"]["message"]
    body = {"jsonrpc": "2.0", "result": result}
    if "id" in message:
        body["id"] = message["id"]
    talk.answer(frame, {"mcp_response": body})


def serve(talk, tools=(ADD,)):
    """Answer the handshake."""
    hello = talk.wait(type="control_request")
    assert hello["request"]["message"]["method"] == "initialize"
    reply(
        talk,
        hello,
        {
            "protocolVersion": VERSION,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "calc", "version": "1"},
        },
    )
    ready = talk.wait(type="control_request")
    assert ready["request"]["message"] == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    reply(talk, ready, {})
    listing = talk.wait(type="control_request")
    assert (listing["request"]["message"]["method"], listing["request"]["message"]["id"]) == ("tools/list", 1)
    reply(talk, listing, {"tools": list(tools)})


@pytest.mark.feature("CTOOL-02")
def test_a_server_is_greeted_listed_and_called(workspace):
    with ScriptedModel([call("mcp__calc__add", a=2), say("five")]) as model:
        talk = workspace.talk(model, *CONFIG, *ALLOW)
        talk.control("init", "initialize")
        serve(talk)
        talk.prompt()
        request = talk.wait(type="control_request")
        reply(talk, request, {"content": [{"type": "text", "text": "5"}]})
        talk.result()

    # The greeting goes out before the answer to initialize, which does not wait for its reply.
    assert [f["type"] for f in talk.frames[:2]] == ["control_request", "control_response"]
    init = talk.of("system", "init")[0]
    assert init["mcp_servers"] == [{"name": "calc", "status": "connected", "source": "sdk"}]
    assert "mcp__calc__add" in init["tools"]
    message = request["request"]["message"]
    assert message["method"] == "tools/call"
    assert message["params"]["name"] == "add"
    assert message["params"]["arguments"] == {"a": 2}
    use = talk.of("assistant")[0]
    assert message["params"]["_meta"]["claudecode/toolUseId"] == use["message"]["content"][0]["id"]
    assert use["tool_use_meta"][0]["display_name"] == "Add"
    frame = talk.of("user")[0]
    assert (
        frame["message"]["content"][0]["content"]
        == frame["tool_use_result"]
        == [{"type": "text", "text": "5"}]
    )
    offered = {tool["name"]: tool for tool in model.requests[0].body["tools"]}
    assert offered["mcp__calc__add"]["input_schema"] == ADD["inputSchema"]


@pytest.mark.feature("CTOOL-03")
def test_a_failure_of_the_tool_is_an_error_for_the_model(workspace):
    with ScriptedModel([call("mcp__calc__add", a=2), say("oh")]) as model:
        talk = workspace.talk(model, *CONFIG, *ALLOW)
        talk.control("init", "initialize")
        serve(talk)
        talk.prompt()
        reply(
            talk,
            talk.wait(type="control_request"),
            {"content": [{"type": "text", "text": "bad"}], "isError": True},
        )
        talk.result()

    assert (talk.tool_results()[0]["content"], talk.tool_results()[0]["is_error"]) == ("bad", True)
    assert talk.of("user")[0]["tool_use_result"] == "Error: bad"


def test_a_host_that_cannot_answer_a_call_costs_that_call(workspace):
    with ScriptedModel([call("mcp__calc__add", a=2), say("oh")]) as model:
        talk = workspace.talk(model, *CONFIG, *ALLOW)
        talk.control("init", "initialize")
        serve(talk)
        talk.prompt()
        talk.fail(talk.wait(type="control_request"), "no such server")
        assert talk.result()["result"] == "oh"

    assert "no such server" in talk.tool_results()[0]["content"]


def test_pictures_come_through_and_are_kept_as_files(workspace):
    picture = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    with ScriptedModel([call("mcp__calc__add", a=2), say("nice")]) as model:
        talk = workspace.talk(model, *CONFIG, *ALLOW)
        talk.control("init", "initialize")
        serve(talk)
        talk.prompt()
        reply(talk, talk.wait(type="control_request"), {"content": [picture]})
        talk.result()

    image, note = talk.tool_results()[0]["content"]
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": "aGk="}
    path = note["text"].removeprefix("[Image: source: ").removesuffix("]")
    assert Path(path).read_bytes() == b"hi"


@pytest.mark.feature("LOOP-19")
@pytest.mark.parametrize("read_only", [True, False])
def test_only_tools_that_are_said_to_read_run_side_by_side(workspace, read_only):
    tool = {**ADD, "annotations": {"readOnlyHint": read_only}}
    with ScriptedModel([call("mcp__calc__add", a=1) + call("mcp__calc__add", a=2), say("done")]) as model:
        talk = workspace.talk(model, *CONFIG, *ALLOW)
        talk.control("init", "initialize")
        serve(talk, [tool])
        talk.prompt()
        first = talk.wait(type="control_request")
        if read_only:
            second = talk.wait(type="control_request")
            reply(talk, second, {"content": [{"type": "text", "text": "second"}]})
            talk.wait(type="user")
            reply(talk, first, {"content": [{"type": "text", "text": "first"}]})
        else:
            reply(talk, first, {"content": [{"type": "text", "text": "first"}]})
            talk.wait(type="user")
            reply(talk, talk.wait(type="control_request"), {"content": [{"type": "text", "text": "second"}]})
        talk.result()

    sent = model.requests[1].messages[-1]["content"]
    assert [block["content"][0]["text"] for block in sent] == ["first", "second"]


def test_a_tool_that_is_not_allowed_is_asked_about(workspace):
    with ScriptedModel([call("mcp__calc__add", a=2), say("done")]) as model:
        talk = workspace.talk(model, *CONFIG, "--permission-prompt-tool", "stdio")
        talk.control("init", "initialize")
        serve(talk)
        talk.prompt()
        question = talk.wait(type="control_request")["request"]
        talk.answer(talk.of("control_request")[-1], {"behavior": "deny", "message": "no"})
        talk.result()

    assert question["tool_name"] == "mcp__calc__add"
    assert question["mcp_server"] == {"name": "calc", "source": "sdk"}
    assert question["permission_suggestions"][0]["rules"] == [{"toolName": "mcp__calc__add"}]


@pytest.mark.feature("CTOOL-02")
def test_what_the_host_knows_of_its_server_is_not_asked_again(workspace):
    manifest = {
        "initializeResult": {
            "protocolVersion": VERSION,
            "capabilities": {},
            "serverInfo": {"name": "calc", "version": "1"},
        },
        "toolsListResult": {"tools": [ADD]},
    }
    with ScriptedModel([call("mcp__calc__add", a=2), say("five")]) as model:
        talk = workspace.talk(model, *ALLOW)
        answer = talk.initialize(sdkMcpServers=["calc"], sdkMcpServerManifests={"calc": manifest})
        talk.prompt()
        request = talk.wait(type="control_request")
        reply(talk, request, {"content": [{"type": "text", "text": "5"}]})
        talk.result()

    assert answer["sdk_mcp_manifests_parked"] == {"calc": "parked"}
    assert (request["request"]["message"]["method"], request["request"]["message"]["id"]) == ("tools/call", 2)
    assert len(talk.of("control_request")) == 1


def test_a_server_that_fails_is_listed_as_failed_and_the_turn_goes_on(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model, *CONFIG)
        talk.control("init", "initialize")
        talk.fail(talk.wait(type="control_request"), "broken")
        talk.prompt()
        assert talk.result()["result"] == "hi"
        (status,) = talk.ask("mcp_status")["response"]["mcpServers"]

    assert talk.of("system", "init")[0]["mcp_servers"][0]["status"] == "failed"
    assert (status["status"], "broken" in status["error"]) == ("failed", True)


def test_the_status_lists_the_tools(workspace):
    talk = workspace.talk(None, *CONFIG)
    talk.control("init", "initialize")
    serve(talk, [{**ADD, "annotations": {"readOnlyHint": True}}])
    (status,) = talk.ask("mcp_status")["response"]["mcpServers"]

    assert (status["name"], status["status"]) == ("calc", "connected")
    assert status["tools"] == [{"name": "add", "description": "adds", "annotations": {"readOnly": True}}]


ASK = {"name": "ask", "inputSchema": {"type": "object", "properties": {"tool_name": {}}}}


@pytest.mark.feature("PERM-26")
@pytest.mark.parametrize(
    ("answer", "written", "told"),
    [
        ('{"behavior": "allow"}', "x", "created"),
        ('{"behavior": "allow", "updatedInput": {"file_path": "b.txt", "content": "y"}}', None, "created"),
        ('{"behavior": "deny", "message": "not now"}', None, "not now"),
        ("certainly", None, "`behavior`"),
    ],
)
def test_a_tool_of_a_server_is_asked_for_permission(workspace, answer, written, told):
    flags = (*CONFIG, "--permission-prompt-tool", "mcp__calc__ask")
    path = workspace.project / "a.txt"
    with ScriptedModel([call("Write", file_path=str(path), content="x"), say("done")]) as model:
        talk = workspace.talk(model, *flags)
        talk.control("init", "initialize")
        serve(talk, [ADD, ASK])
        talk.prompt()
        request = talk.wait(type="control_request")
        reply(talk, request, {"content": [{"type": "text", "text": answer}]})
        talk.result()

    message = request["request"]["message"]
    assert message["params"]["name"] == "ask"
    assert message["params"]["arguments"] == {
        "tool_name": "Write",
        "input": {"file_path": str(path), "content": "x"},
        "tool_use_id": talk.tool_results()[0]["tool_use_id"],
    }
    assert (path.read_text() if path.exists() else None) == written
    assert told in talk.tool_results()[0]["content"]
    # The model is not offered the tool.
    offered = {tool["name"] for tool in model.requests[0].body["tools"]}
    assert "mcp__calc__ask" not in offered
    assert "mcp__calc__add" in offered


@pytest.mark.feature("PERM-26")
def test_without_the_tool_that_is_to_be_asked_calls_are_denied(workspace):
    with ScriptedModel([call("Write", file_path="a.txt", content="x"), say("done")]) as model:
        talk = workspace.talk(model, "--permission-prompt-tool", "mcp__calc__ask")
        talk.initialize()
        talk.prompt()
        result = talk.result()

    assert "mcp__calc__ask" in talk.tool_results()[0]["content"]
    assert len(result["permission_denials"]) == 1


@pytest.mark.feature("HOOK-22")
def test_a_tool_may_serve_as_a_hook(workspace):
    hook = {
        "type": "mcp_tool",
        "server": "calc",
        "tool": "add",
        "input": {"a": "${tool_input.command}", "b": ["${tool_name}", "${no.such}"]},
    }
    hooks = {"PreToolUse": [{"hooks": [hook]}]}
    denial = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "the server says no",
    }
    with ScriptedModel([call("Bash", command="touch made"), say("oh")]) as model:
        talk = workspace.talk(model, *CONFIG, "--settings", json.dumps({"hooks": hooks}))
        talk.control("init", "initialize")
        serve(talk)
        talk.prompt()
        request = talk.wait(type="control_request")
        answer = json.dumps({"hookSpecificOutput": denial})
        reply(talk, request, {"content": [{"type": "text", "text": answer}]})
        talk.result()

    arguments = request["request"]["message"]["params"]["arguments"]
    assert arguments == {"a": "touch made", "b": ["Bash", ""]}
    assert talk.tool_results()[0]["content"] == "PreToolUse:Bash hook error: the server says no"
    assert not (workspace.project / "made").exists()


@pytest.mark.feature("STREAM-04")
def test_an_interrupt_tells_the_server_that_its_answer_is_not_wanted(workspace):
    with ScriptedModel([call("mcp__calc__add", a=2), say("five")]) as model:
        talk = workspace.talk(model, *CONFIG, *ALLOW)
        talk.control("init", "initialize")
        serve(talk)
        talk.prompt()
        request = talk.wait(type="control_request", request={"message": {"method": "tools/call"}})
        talk.control("stop", "interrupt")
        told = talk.wait(type="control_request")["request"]["message"]
        talk.wait(type="control_response", response={"request_id": "stop"})
        result = talk.result()

    assert told["method"] == "notifications/cancelled"
    assert told["params"]["requestId"] == request["request"]["message"]["id"]
    assert talk.of("control_cancel_request") == []
    assert result["terminal_reason"] == "aborted_tools"
