"""Control requests: every one is answered, at any time."""

import pytest

from claude_wrapper.testing import ScriptedModel, call, say, stall


def test_initialize_tells_the_host_what_it_needs(workspace):
    talk = workspace.talk(None)
    reply = talk.initialize(hooks=None, agents={"a": {"description": "d", "prompt": "p"}}, nosuch=1)

    assert {
        "commands",
        "agents",
        "models",
        "account",
        "output_style",
        "available_output_styles",
    } <= reply.keys()
    assert reply["hook_on_failure_supported"] is True
    assert reply["current_permission_mode"] == "default"
    assert reply["session_state"] == "idle"
    assert "hooks_applied" not in reply
    frame = talk.of("control_response")[0]["response"]
    assert frame["pending_permission_requests"] == []
    assert talk.initialize(hooks={})["hooks_applied"] is True


def test_a_bad_initialize_is_answered_with_an_error(workspace):
    talk = workspace.talk(None)
    talk.control("i", "initialize", hooks={"Stop": [{"matcher": 7}]})

    assert talk.wait(type="control_response")["response"]["subtype"] == "error"


def test_a_prompt_need_not_wait_for_the_answer(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        talk.control("i", "initialize")
        talk.prompt()
        assert talk.result()["result"] == "hi"

    assert talk.frames[0]["type"] == "control_response"


@pytest.mark.parametrize("subtype", ["set_color", "nosuch", "can_use_tool", "hook_callback"])
def test_what_is_not_served_is_answered_all_the_same(workspace, subtype):
    talk = workspace.talk(None)
    answer = talk.ask(subtype, tool_name="Bash", input={})

    assert answer["error"] == f"Unsupported control request subtype: {subtype}"
    assert answer["error_code"] == "unsupported_request"


def test_requests_without_their_fields_are_answered(workspace):
    talk = workspace.talk(None)
    assert talk.ask("set_permission_mode")["subtype"] == "error"
    talk.send({"type": "control_request", "request_id": "x", "request": {}})
    assert talk.wait(type="control_response", response={"request_id": "x"})["response"]["subtype"] == "error"


def test_questions_are_answered_while_a_turn_runs(workspace):
    with ScriptedModel([stall("x") + say("hi")]) as model:
        talk = workspace.talk(model)
        talk.prompt()
        model.wait_request(1)
        assert talk.ask("mcp_status")["response"] == {"mcpServers": []}
        assert talk.ask("list_models")["response"]["models"][0]["value"] == "default"
        version = talk.ask("get_binary_version")["response"]
        assert version["agent"] == "claude-wrapper"
        assert talk.ask("get_settings")["response"]["applied"]["model"] == "claude-sonnet-4-5"
        assert talk.ask("list_permission_rules")["response"]["state"]["rules"] == []
        model.gate("x").release()
        talk.result()


def test_what_the_session_costs(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        talk.prompt()
        talk.result()
        usage = talk.ask("get_usage")["response"]["session"]
        cost = talk.ask("get_session_cost")["response"]["text"]
        context = talk.ask("get_context_usage")["response"]

    assert usage["total_cost_usd"] == pytest.approx(0.0006)
    assert usage["model_usage"]["claude-sonnet-4-5"]["inputTokens"] == 100
    assert "$0.0006" in cost
    assert context["maxTokens"] == 200_000
    assert context["totalTokens"] == sum(c["tokens"] for c in context["categories"] if c["kind"] == "used")


@pytest.mark.feature("LOOP-27")
def test_the_model_can_be_changed_between_turns(workspace):
    with ScriptedModel([say("one"), say("two"), say("three")], order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt()
        talk.result()
        assert talk.ask("set_model", model="claude-haiku-4-5")["response"] == {"model": "claude-haiku-4-5"}
        talk.prompt()
        talk.result()
        assert talk.ask("set_model", model=None)["response"]["model"] == "claude-opus-5-5"
        talk.prompt()
        result = talk.result()

    assert [r.body["model"] for r in model.requests] == [
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
        "claude-opus-5-5",
    ]
    assert [f["model"] for f in talk.of("system", "init")] == [r.body["model"] for r in model.requests]
    assert set(result["modelUsage"]) == {"claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-5-5"}
    echo = talk.of("user")[0]
    assert (echo["isReplay"], echo["message"]["content"]) == (
        True,
        "<local-command-stdout>Set model to `claude-haiku-4-5`</local-command-stdout>",
    )


@pytest.mark.feature("LOOP-26", "ENV-09")
def test_thinking_can_be_set_and_taken_back(workspace):
    with ScriptedModel([say("one"), say("two")], order="queue") as model:
        talk = workspace.talk(model, "--max-thinking-tokens", "2000")
        talk.prompt()
        talk.result()
        assert talk.ask("set_max_thinking_tokens", max_thinking_tokens=3000)["subtype"] == "success"
        talk.prompt()
        talk.result()

    assert [r.body["thinking"]["budget_tokens"] for r in model.requests] == [2000, 3000]


def test_a_title_is_announced_and_kept(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        talk.initialize(title="First title")
        assert talk.of("system", "session_title_changed")[0]["title"] == "First title"
        talk.prompt()
        talk.result()
        talk.ask("rename_session", title="My title")
        assert talk.of("system", "session_title_changed")[1]["title"] == "My title"
        talk.close()

    assert [e["customTitle"] for e in workspace.entries() if e["type"] == "custom-title"] == [
        "First title",
        "My title",
    ]


def test_files_of_the_project_can_be_read_and_no_others(workspace):
    (workspace.project / "a.txt").write_text("alpha\n")
    talk = workspace.talk(None)

    assert talk.ask("read_file", path="a.txt")["response"]["contents"] == "alpha\n"
    part = talk.ask("read_file", path="a.txt", encoding="base64", max_bytes=4)["response"]
    assert (part["contents"], part["truncated"]) == ("YWxwaA==", True)
    assert talk.ask("read_file", path="none.txt")["error"] == "read denied: none.txt"
    assert talk.ask("read_file", path="/etc/passwd")["error"] == "read denied: /etc/passwd"
    assert talk.ask("read_file", path="../home/x")["error"] == "read denied: ../home/x"


def test_settings_of_the_session_can_be_replaced(workspace):
    with ScriptedModel([call("Bash", command="touch a"), say("done")]) as model:
        talk = workspace.talk(model)
        assert talk.ask("apply_flag_settings", settings={"permissions": 7})["subtype"] == "error"
        allow = {"permissions": {"allow": ["Bash(touch *)"]}}
        assert talk.ask("apply_flag_settings", settings=allow)["subtype"] == "success"
        talk.prompt()
        talk.result()

    assert talk.tool_results()[0]["is_error"] is False


def test_settings_files_can_be_written(workspace):
    path = workspace.project / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"model": "opus"}')
    talk = workspace.talk(None)

    assert (
        talk.ask("update_settings", source="localSettings", settings={"outputStyle": "x"})["response"] == {}
    )
    assert path.read_text() == '{\n  "model": "opus",\n  "outputStyle": "x"\n}\n'
    path.write_text("not json")
    assert talk.ask("update_settings", source="localSettings", settings={"a": 1})["subtype"] == "error"
    assert path.read_text() == "not json"
    assert talk.ask("update_settings", source="projectSettings", settings={})["subtype"] == "error"


def test_a_folder_below_those_of_the_start_can_be_added(workspace, tmp_path):
    other = tmp_path / "other"
    (other / "sub").mkdir(parents=True)
    (workspace.project / "sub").mkdir()
    (workspace.project / "link").symlink_to(tmp_path)
    talk = workspace.talk(None, "--add-dir", str(other))
    inside, beside = str(workspace.project / "sub"), str(other / "sub")

    for folder in (inside, beside):
        assert talk.ask("register_repo_root", directory=folder)["response"] == {"directory": folder}
    refused = [inside, other, workspace.project, workspace.project / "link", tmp_path, other / "no", "/etc"]
    for folder in refused:
        assert talk.ask("register_repo_root", directory=str(folder))["subtype"] == "error"


def test_servers_that_are_not_there_are_named(workspace):
    talk = workspace.talk(None)

    assert talk.ask("mcp_reconnect", serverName="x")["error"] == "Server not found: x"
    assert talk.ask("mcp_toggle", serverName="x", enabled=True)["error"] == "Server not found: x"
    assert talk.ask("mcp_call", tool="mcp__x__y", arguments={})["error"] == "MCP server not connected: x"
    assert (
        talk.ask("mcp_message", server_name="x", message={"jsonrpc": "2.0", "method": "n"})["subtype"]
        == "success"
    )


def test_the_first_line_may_have_to_be_initialize(workspace):
    talk = workspace.talk(None, "--await-initialize")
    talk.prompt()
    assert talk.exit_code() == 1
    assert talk.frames == []

    talk = workspace.talk(None, "--await-initialize")
    assert talk.initialize()["session_state"] == "idle"


def test_prompts_of_the_host_replace_the_agents_own(workspace):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model)
        talk.initialize(systemPrompt=["Be a pirate."], appendSystemPrompt="Say arr.")
        talk.prompt()
        talk.result()

    texts = [block["text"] for block in model.requests[0].body["system"]]
    assert texts[-2:] == ["Be a pirate.", "Say arr."]
