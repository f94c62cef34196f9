"""Variables of the environment, each by what it changes in a run of the real process."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, fail, say, turn

pytestmark = pytest.mark.feature("ENV-11")

JSON = ("-p", "--output-format", "json", "--model", "claude-sonnet-4-5")


def result(workspace, model, *argv, **env):
    code, out, _ = workspace.run(model, *JSON, *argv, env=env)
    return code, json.loads(out)


def body_of(workspace, *argv, **env):
    """The body of the one request of a run."""
    with ScriptedModel([say("hi")]) as model:
        code, _, err = workspace.run(model, *JSON, *argv, "go", env=env)
    assert code == 0, err
    return model.requests[0].body


def test_turns_are_limited(workspace):
    with ScriptedModel([call("Glob", pattern="*")]) as model:
        code, found = result(workspace, model, "go", CLAUDE_CODE_MAX_TURNS="1")

    assert (code, found["subtype"]) == (1, "error_max_turns")
    code, out, err = workspace.run(None, "-p", "go", env={"CLAUDE_CODE_MAX_TURNS": "many"})
    assert (code, out, "CLAUDE_CODE_MAX_TURNS" in err) == (1, "", True)


@pytest.mark.parametrize(
    ("model_name", "env", "window"),
    [
        ("claude-sonnet-4-5", {}, 200_000),
        ("claude-sonnet-4-5", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "50000"}, 200_000),
        ("claude-sonnet-4-5", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "50000", "DISABLE_COMPACT": "1"}, 50_000),
        ("of-nobody", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "50000"}, 50_000),
        ("claude-sonnet-4-5", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "x", "DISABLE_COMPACT": "1"}, 200_000),
    ],
)
def test_the_window_may_be_given_where_nobody_knows_it(workspace, model_name, env, window):
    with ScriptedModel([say("hi")]) as model:
        _, found = result(workspace, model, "go", "--model", model_name, **env)

    assert [used["contextWindow"] for used in found["modelUsage"].values()] == [window]


def test_everything_that_is_kept_moves_with_its_folder(workspace, tmp_path):
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "settings.json").write_text('{"model": "claude-opus-4-5"}')
    with ScriptedModel([say("hi")]) as model:
        env = {"CLAUDE_CONFIG_DIR": str(moved)}
        workspace.run(model, "-p", "go", env=env)
        workspace.run(None, "mcp", "add", "-s", "user", "x", "--", "prog", env=env)

    assert model.requests[0].body["model"] == "claude-opus-4-5"
    assert list((moved / "projects").glob("*/*.jsonl"))
    assert "x" in json.loads((moved / ".claude.json").read_text())["mcpServers"]
    assert not list(workspace.home.iterdir())


@pytest.mark.parametrize(
    ("env", "field", "value"),
    [
        ({"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "5000"}, "max_tokens", 5000),
        ({"CLAUDE_CODE_EXTRA_BODY": '{"top_k": 5}'}, "top_k", 5),
        ({"CLAUDE_CODE_DISABLE_THINKING": "1"}, "thinking", None),
        ({"MAX_THINKING_TOKENS": "2048"}, "thinking", 2048),
        ({"MAX_THINKING_TOKENS": "0"}, "thinking", None),
    ],
)
def test_limits_reach_the_request(workspace, env, field, value):
    found = body_of(workspace, **env).get(field)

    if field == "thinking":
        found = (found or {}).get("budget_tokens")
    assert found == value


def test_the_cache_can_be_left_alone(workspace):
    assert "cache_control" in json.dumps(body_of(workspace))
    assert "cache_control" not in json.dumps(body_of(workspace, DISABLE_PROMPT_CACHING="1"))


@pytest.mark.parametrize(
    ("env", "name"), [({}, "TaskCreate"), ({"CLAUDE_CODE_ENABLE_TASKS": "0"}, "TodoWrite")]
)
def test_the_list_of_tasks_is_chosen(workspace, env, name):
    names = {tool["name"] for tool in body_of(workspace, **env)["tools"]}

    assert names & {"TaskCreate", "TodoWrite"} == {name}


def test_headers_and_betas_are_added(workspace):
    env = {"ANTHROPIC_CUSTOM_HEADERS": "X-One: 1\nX-Two: 2", "ANTHROPIC_BETAS": "mine-2026"}
    with ScriptedModel([say("hi")]) as model:
        workspace.run(model, "-p", "go", env=env)

    headers = {name.lower(): value for name, value in model.requests[0].headers.items()}
    assert (headers["x-one"], headers["x-two"]) == ("1", "2")
    assert "mine-2026" in headers["anthropic-beta"]


def test_output_of_commands_is_cut_where_it_is_wished(workspace):
    script = [call("Bash", command="seq 1 2000"), say("done")]
    with ScriptedModel(script) as model:
        workspace.run(model, "-p", "go", "--allowedTools", "Bash", env={"BASH_MAX_OUTPUT_LENGTH": "300"})

    block = model.requests[1].messages[-1]["content"][0]
    assert len(json.dumps(block)) < 3000


def test_retries_are_counted(workspace):
    with ScriptedModel([fail(529), fail(529)], order="queue") as model:
        code, found = result(workspace, model, "go", CLAUDE_CODE_MAX_RETRIES="1")

    assert (code, found["api_error_status"], len(model.requests)) == (1, 529, 2)


def test_a_server_that_is_silent_is_given_up(workspace):
    with ScriptedModel([turn(say("late"), delay=5)]) as model:
        code, found = result(workspace, model, "go", API_TIMEOUT_MS="300")

    assert (code, found["is_error"], found["terminal_reason"]) == (1, True, "api_error")
