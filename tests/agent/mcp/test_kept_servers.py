"""MCP servers that are kept in files: which of them a session has."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, say


@pytest.fixture
def run(workspace):
    """Run the agent with these files; gives the init frame, its stderr and the model."""

    def go(*argv, shared=None, state=None, settings=None, script=None, env=None):
        if shared is not None:
            (workspace.project / ".mcp.json").write_text(json.dumps({"mcpServers": shared}))
        if state is not None:
            (workspace.home / ".claude.json").write_text(json.dumps(state))
        if settings is not None:
            (workspace.project / ".claude").mkdir(exist_ok=True)
            (workspace.project / ".claude" / "settings.local.json").write_text(json.dumps(settings))
        with ScriptedModel(script or [say("hi")]) as model:
            code, out, err = workspace.run(
                model, "-p", "--output-format=stream-json", "--verbose", *argv, "--", "go", env=env
            )
        assert code == 0, err
        frames = [json.loads(line) for line in out.splitlines()]
        return next(frame for frame in frames if frame.get("subtype") == "init"), err, model

    return go


def sources(init):
    return {each["name"]: each["source"] for each in init["mcp_servers"]}


def given(**servers):
    return f"--mcp-config={json.dumps({'mcpServers': servers})}"


@pytest.mark.feature("MCP-02", "MCP-12")
def test_servers_of_all_files_are_used_without_approval(run, workspace, program):
    one = program.config()
    state = {"mcpServers": {"mine": one}, "projects": {str(workspace.project): {"mcpServers": {"here": one}}}}

    init, _, _ = run(shared={"ours": one}, state=state)

    assert sources(init) == {"mine": "user", "ours": "project", "here": "local"}
    assert {"mcp__mine__do", "mcp__ours__do", "mcp__here__do"} <= set(init["tools"])


@pytest.mark.feature("MCP-02")
def test_of_servers_of_one_name_the_nearest_is_used_whole(run, workspace, program):
    scopes = {name: program.config(name, env={f"FROM_{name}": "1"}) for name in ("user", "shared", "local")}
    projects = {str(workspace.project): {"mcpServers": {"x": scopes["local"]}}}

    init, _, _ = run(
        given(y=program.config("flag")),
        shared={"x": scopes["shared"], "y": scopes["shared"]},
        state={"mcpServers": {"x": scopes["user"]}, "projects": projects},
    )

    assert sources(init) == {"x": "local", "y": "dynamic"}
    assert not any("FROM_shared" in start or "FROM_user" in start for start in program.starts)


@pytest.mark.feature("MCP-02")
@pytest.mark.parametrize(
    ("argv", "left"),
    [
        (["--setting-sources=user"], {"mine": "user"}),
        (["--setting-sources=project,local"], {"ours": "project", "here": "local"}),
        (["--setting-sources="], {}),
        (["--strict-mcp-config"], {}),
        (["--bare"], {}),
        (["--safe-mode"], {}),
    ],
)
def test_flags_leave_files_out(run, workspace, program, argv, left):
    one = program.config()
    state = {"mcpServers": {"mine": one}, "projects": {str(workspace.project): {"mcpServers": {"here": one}}}}

    init, _, _ = run(*argv, shared={"ours": one}, state=state)

    assert sources(init) == left


@pytest.mark.feature("MCP-12")
def test_servers_that_the_user_refused_are_not_there_and_those_switched_off_are_shown_so(
    run, workspace, program
):
    one = program.config()
    here = {"disabledMcpjsonServers": ["b"], "disabledMcpServers": ["mine"]}

    init, _, _ = run(
        shared={"a": one, "b": one, "c": one},
        state={"mcpServers": {"mine": one}, "projects": {str(workspace.project): here}},
        settings={"disabledMcpjsonServers": ["a"]},
    )

    assert {each["name"]: each["status"] for each in init["mcp_servers"]} == {
        "mine": "disabled",
        "c": "connected",
    }
    assert len(program.starts) == 1


@pytest.mark.feature("MCP-12")
def test_lists_of_allowed_and_denied_servers_hold_for_every_source(run, program):
    one = program.config()
    lists = {
        "allowedMcpServers": [{"serverName": "a"}, {"serverName": "b"}, {"serverName": "d"}],
        "deniedMcpServers": [{"serverName": "b"}],
    }

    init, err, _ = run(
        given(d=one, e=one), f"--managed-settings={json.dumps(lists)}", shared={"a": one, "b": one, "c": one}
    )

    assert sources(init) == {"a": "project", "d": "dynamic"}
    assert "blocked by enterprise policy: e" in err


@pytest.mark.feature("MCP-03")
def test_variables_are_filled_in_but_a_project_is_not_told_the_key(run, program):
    written = {
        "A": "${SET_HERE}",
        "B": "${NOT_SET:-otherwise}",
        "C": "${NOT_SET}",
        "D": "${ANTHROPIC_API_KEY}",
        "E": "${SET_HERE}/${NOT_SET:-}",
    }

    run(shared={"x": program.config(env=written)}, env={"SET_HERE": "here"})

    [start] = program.starts
    assert {name: start[name] for name in written} == {
        "A": "here",
        "B": "otherwise",
        "C": "${NOT_SET}",
        "D": "${ANTHROPIC_API_KEY}",
        "E": "here/",
    }
    assert "ANTHROPIC_API_KEY" not in start


@pytest.mark.feature("MCP-13")
def test_a_program_is_told_the_session_and_the_project(run, program, workspace):
    init, _, _ = run(given(x=program.config()), env={"OTHER": "yes"})

    [start] = program.starts
    assert start["CLAUDE_CODE_SESSION_ID"] == init["session_id"]
    assert (start["CLAUDE_PROJECT_DIR"], start["CLAUDECODE"]) == (str(workspace.project), "1")
    assert start["OTHER"] == "yes"


@pytest.mark.feature("MCP-13")
def test_a_program_may_be_given_only_variables_that_everybody_may_know(run, program):
    run(
        given(x=program.config(env={"GIVEN": "1"})),
        env={"OTHER": "yes", "CLAUDE_CODE_MCP_ALLOWLIST_ENV": "1"},
    )

    [start] = program.starts
    assert "OTHER" not in start
    assert start["GIVEN"] == "1"
    assert start["HOME"]


def test_files_that_are_broken_or_hold_wrong_entries_cost_only_those(run, program, workspace):
    init, _, _ = run(shared={"a": {}, "b": {"url": "http://127.0.0.1:9"}, "c": 5, "good": program.config()})

    assert sources(init) == {"good": "project"}
    assert "mcp_server_errors" not in init

    (workspace.project / ".mcp.json").write_text("{ no json")
    init, _, _ = run()

    assert sources(init) == {}


def test_a_file_above_the_project_counts(run, workspace, program):
    (workspace.project.parent / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"above": program.config(), "both": program.config("above")}})
    )

    init, _, _ = run(shared={"both": program.config("below")})

    assert sources(init) == {"above": "project", "both": "project"}


@pytest.mark.feature("MCP-06")
def test_a_server_of_a_file_that_is_slow_does_not_hold_the_turn_up(run, program):
    init, _, _ = run(shared={"slow": program.config("mute")})

    assert init["mcp_servers"] == [{"name": "slow", "status": "pending", "source": "project"}]


@pytest.mark.feature("MCP-06")
def test_a_server_of_the_command_line_is_waited_for_until_its_time_is_over(run, program):
    init, _, _ = run(given(slow=program.config("mute")), env={"MCP_TIMEOUT": "300"})

    assert init["mcp_servers"] == [{"name": "slow", "status": "failed", "source": "dynamic"}]


@pytest.mark.feature("MCP-14")
def test_a_servers_tool_needs_permission_which_accepting_edits_does_not_give(run, program):
    _, _, model = run(
        given(x=program.config()),
        "--permission-mode=acceptEdits",
        script=[call("mcp__x__do", x="1"), say("ok")],
    )

    assert "haven't granted" in json.dumps(model.requests[1].messages[-1])
    assert not program.asked("tools/call")


@pytest.mark.parametrize("rule", ["mcp__x", "mcp__x__*", "mcp__x__do"])
def test_rules_speak_of_a_server_or_of_one_of_its_tools(run, program, rule):
    _, _, model = run(
        given(x=program.config()),
        f"--allowedTools={rule}",
        script=[call("mcp__x__do", x="1"), say("ok")],
    )

    assert "did 1" in json.dumps(model.requests[1].messages[-1])

    init, _, _ = run(given(x=program.config()), f"--disallowedTools={rule}")

    assert "mcp__x__do" not in init["tools"]


@pytest.mark.feature("MCP-04")
def test_names_that_are_taken_and_urls_without_a_kind_are_told(run, program):
    init, _, _ = run(given(workspace=program.config(), far={"url": "http://127.0.0.1:9"}))

    assert init["mcp_servers"] == []
    assert [each["type"] for each in init["mcp_server_errors"]] == ["reserved_name", "url_missing_type"]
