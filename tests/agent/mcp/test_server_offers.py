"""What MCP servers offer and give back: results of all kinds, changes, resources, prompts, questions."""

import json
import signal
from pathlib import Path

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def play(workspace, program):
    """Run turns with one server; gives the talk, and the model."""

    def go(*script, ways=(), prompts=("go",), env=None, before=None, argv=(), **config):
        servers = json.dumps({"mcpServers": {"x": program.config(*ways, **config)}})
        with ScriptedModel([*script, say("done")]) as model:
            talk = workspace.talk(model, "--mcp-config", servers, "--allowedTools=mcp__x", *argv, env=env)
            talk.initialize()
            for prompt in prompts:
                talk.prompt(prompt)
                if before is not None:
                    before(talk)
                talk.result()
        return talk, model

    return go


def do(x):
    return call("mcp__x__do", x=x)


def structured(talk):
    return [frame["tool_use_result"] for frame in talk.of("user") if "tool_use_result" in frame]


def given(*content, **more):
    return json.dumps({"content": list(content), **more})


@pytest.mark.feature("MCP-09")
def test_structured_content_and_links_are_handed_on(play):
    link = {"type": "resource_link", "uri": "res://b", "name": "b"}
    talk, _ = play(
        do(given({"type": "text", "text": '{"n": 1}'}, structuredContent={"n": 1})),
        do(given(link, {"type": "resource", "resource": {"uri": "res://a", "text": "what a says"}})),
    )

    first, second = talk.tool_results()
    assert first["content"] == '{"n":1}'
    assert [block["text"] for block in second["content"]] == [
        "[Resource link: b] res://b",
        "[Resource from x at res://a] what a says",
    ]
    assert structured(talk) == [
        {"content": '{"n":1}', "structuredContent": {"n": 1}},
        {"content": second["content"], "resourceLinks": [{"uri": "res://b", "name": "b"}]},
    ]


@pytest.mark.feature("MCP-09")
def test_pictures_sounds_and_files_are_kept_as_files(play):
    blob = {"uri": "res://a", "blob": "AAAA", "mimeType": "application/pdf"}
    talk, _ = play(
        do(given({"type": "image", "data": PICTURE, "mimeType": "image/png"})),
        do(given({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"})),
        do(given({"type": "resource", "resource": blob})),
    )

    picture, sound, file = talk.tool_results()
    assert picture["content"][0]["source"]["data"] == PICTURE
    for block in (picture["content"][1], sound["content"][0], file["content"][0]):
        path = Path(block["text"].rstrip("]").split()[-1])
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.feature("MCP-09")
def test_a_failure_is_one_and_so_is_an_error_of_the_protocol(play):
    talk, _ = play(do(given({"type": "text", "text": "bad"}, isError=True)), do("fault"))

    assert [(block["content"], block["is_error"]) for block in talk.tool_results()] == [
        ("bad", True),
        ("it went wrong", True),
    ]
    assert structured(talk) == ["Error: bad", "Error: it went wrong"]


@pytest.mark.feature("MCP-09")
def test_a_long_description_is_cut(play):
    _, model = play(ways=["long"])

    [tool] = [tool for tool in model.requests[0].body["tools"] if tool["name"] == "mcp__x__do"]
    assert len(tool["description"]) < 2100


@pytest.mark.feature("MCP-08")
def test_a_very_long_result_is_in_a_file(play):
    talk, _ = play(do("much3000y"), env={"MAX_MCP_OUTPUT_TOKENS": "500"})

    [block] = talk.tool_results()
    path = Path(block["content"].partition("saved to ")[2].partition("\n")[0].rstrip("."))
    assert path.read_text() == "y" * 3000
    assert "yyyy" not in block["content"]


@pytest.mark.feature("MCP-07")
@pytest.mark.parametrize("way", ["environment", "configuration"])
def test_a_call_has_a_time_limit_and_the_server_is_told(play, program, eventually, way):
    talk, _ = play(
        do("hang"),
        env={"MCP_TOOL_TIMEOUT": "300"} if way == "environment" else None,
        **({"timeout": 300} if way == "configuration" else {}),
    )

    [block] = talk.tool_results()
    assert (block["is_error"], "timed out" in block["content"]) == (True, True)
    eventually(lambda: program.asked("notifications/cancelled"))
    [revoked] = program.asked("notifications/cancelled")
    assert revoked["params"]["requestId"] == program.asked("tools/call")[0]["id"]


def test_an_interrupt_takes_a_call_back_and_leaves_the_server(play, program, eventually):
    def interrupt(talk):
        if len(talk.of("result")) == 0:
            eventually(lambda: program.asked("tools/call"))
            talk.control("stop", "interrupt")

    talk, _ = play(do("hang"), prompts=("go", "again"), before=interrupt)

    eventually(lambda: program.asked("notifications/cancelled"))
    assert talk.of("result")[0]["subtype"] == "error_during_execution"
    assert talk.of("system", "init")[1]["mcp_servers"][0]["status"] == "connected"
    assert len(program.starts) == 1


@pytest.mark.feature("MCP-10")
def test_a_program_that_died_is_started_by_the_next_call(play, program):
    talk, _ = play(do("die"), do("1"))

    died, lived = talk.tool_results()
    assert died["is_error"] is True
    assert lived["content"] == [{"type": "text", "text": "did 1"}]
    assert len(program.starts) == 2


def test_what_a_server_logs_does_not_hold_it_up(play):
    talk, _ = play(do("1"), ways=["noisy"])

    assert talk.tool_results()[0]["content"] == [{"type": "text", "text": "did 1"}]


@pytest.mark.parametrize("way", ["closed", "killed"])
def test_a_server_that_does_not_want_to_end_ends_with_the_agent(play, program, alive, eventually, way):
    talk, _ = play(ways=["stubborn"])
    assert alive(program.pid)

    if way == "closed":
        assert talk.close() == 0
        assert not alive(program.pid)
    else:
        talk.signal(signal.SIGKILL)
        eventually(lambda: not alive(program.pid))


def test_what_is_no_message_is_passed_over(play):
    talk, _ = play(do("1"), ways=["junk"])

    assert talk.tool_results()[0]["content"] == [{"type": "text", "text": "did 1"}]


@pytest.mark.feature("MCP-10")
def test_a_server_may_change_its_tools_and_ask_for_the_folders(play, workspace):
    _, model = play(do("change"), do("roots"))

    def tools(request):
        return [tool["name"] for tool in request.body["tools"] if tool["name"].startswith("mcp__")]

    assert tools(model.requests[0]) == ["mcp__x__do"]
    assert tools(model.requests[-1]) == ["mcp__x__do", "mcp__x__more"]
    assert workspace.project.as_uri() in json.dumps(model.requests[-1].messages)


def test_tools_that_come_later_are_denied_like_the_others(play):
    _, model = play(do("change"), argv=("--disallowedTools=mcp__x__more",))

    assert "mcp__x__more" not in [tool["name"] for tool in model.requests[-1].body["tools"]]


@pytest.mark.feature("MCP-14")
def test_resources_are_listed_and_read_by_tools_that_need_no_permission(play):
    talk, _ = play(
        call("ListMcpResourcesTool"),
        call("ReadMcpResourceTool", server="x", uri="res://a"),
        call("ReadMcpResourceTool", server="no", uri="res://a"),
        ways=["resources"],
    )

    listed, read, refused = talk.tool_results()
    assert json.loads(listed["content"]) == [
        {"name": "a", "uri": "res://a", "mimeType": "text/plain", "server": "x"}
    ]
    text, blob = json.loads(read["content"])["contents"]
    assert text == {"uri": "res://a", "text": "what a says"}
    assert Path(blob["blobSavedTo"]).read_bytes() == b"\0\0\0"
    assert refused["content"] == 'Server "no" not found. Available servers: x'


def test_without_resources_the_tools_for_them_are_not_there(play):
    talk, _ = play()

    assert "ListMcpResourcesTool" not in talk.of("system", "init")[0]["tools"]


@pytest.mark.feature("SKILL-19")
def test_prompts_are_commands(play):
    talk, model = play(ways=["prompts"], prompts=("/mcp__x__greet_you dear Bob", "/mcp__x__greet_you"))

    [changed] = talk.of("system", "commands_changed")
    assert [each["name"] for each in changed["commands"]] == ["mcp__x__greet_you"]
    assert "mcp__x__greet_you" in talk.of("system", "init")[0]["slash_commands"]
    assert "Say hello to dear Bob" in json.dumps(model.requests[0].messages)
    assert "Missing required argument: who" in talk.of("result")[1]["result"]
    assert len(model.requests) == 1


@pytest.mark.feature("MCP-09")
def test_the_model_is_told_once_what_a_server_says_about_itself(play):
    _, model = play(say("one"), ways=["words"], prompts=("go", "again"))

    assert json.dumps(model.requests[-1].messages).count("Do it well.") == 1


@pytest.mark.feature("MCP-15")
@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"action": "accept", "content": {"n": "bob"}}, {"action": "accept", "content": {"n": "bob"}}),
        ({"action": "decline"}, {"action": "decline"}),
        (None, {"action": "cancel"}),
    ],
)
def test_the_host_answers_what_a_server_asks(play, said, told):
    def respond(talk):
        asked = talk.wait(type="control_request", request={"subtype": "elicitation"})
        assert (asked["request"]["mcp_server_name"], asked["request"]["message"]) == ("x", "who?")
        if said is None:
            talk.fail(asked, "no handler")
        else:
            talk.answer(asked, said)

    talk, _ = play(do("ask"), before=respond)

    assert json.loads(talk.tool_results()[0]["content"][0]["text"]) == told


@pytest.mark.feature("MCP-15")
def test_a_hook_answers_first_what_a_server_asks(play, workspace):
    answer = {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept", "content": {"n": 1}}}
    hook = {"matcher": "x", "hooks": [{"type": "command", "command": f"echo '{json.dumps(answer)}'"}]}
    (workspace.project / ".claude").mkdir()
    (workspace.project / ".claude" / "settings.json").write_text(
        json.dumps({"hooks": {"Elicitation": [hook]}})
    )

    talk, _ = play(do("ask"))

    assert json.loads(talk.tool_results()[0]["content"][0]["text"]) == {
        "action": "accept",
        "content": {"n": 1},
    }
    assert not talk.of("control_request")


@pytest.mark.feature("MCP-15")
def test_a_question_is_taken_back_with_the_call(play):
    def interrupt(talk):
        asked = talk.wait(type="control_request", request={"subtype": "elicitation"})
        talk.control("stop", "interrupt")
        talk.wait(type="control_cancel_request", request_id=asked["request_id"])

    talk, _ = play(do("ask"), before=interrupt)

    assert talk.of("result")[0]["subtype"] == "error_during_execution"


@pytest.mark.feature("MCP-15")
def test_where_nobody_is_there_a_question_is_cancelled(workspace, program):
    servers = json.dumps({"mcpServers": {"x": program.config()}})
    with ScriptedModel([do("ask"), say("done")]) as model:
        code, out, _ = workspace.run(
            model, "-p", "--allowedTools=mcp__x", "--mcp-config", servers, "--", "go"
        )

    assert (code, out.strip()) == (0, "done")
    assert "cancel" in json.dumps(model.requests[1].messages[-1])


def test_the_host_hears_that_what_a_server_asked_elsewhere_is_done(play):
    talk, _ = play(do("done"))

    [done] = talk.of("system", "elicitation_complete")
    assert (done["mcp_server_name"], done["elicitation_id"]) == ("x", "e1")
