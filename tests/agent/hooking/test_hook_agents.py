"""Hooks that are questions to a model with tools, in a running agent."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, fail, say

ECHO = call("Bash", command="echo one")
QUESTION = "Is this fine?"


def verdict(**fields):
    return call("StructuredOutput", **fields)


@pytest.fixture
def checked(workspace):
    """A run whose calls a hook checks; what the model answers that one."""
    opened = []

    def start(*answers, event="PreToolUse", env=None, **hook):
        asked = [{"hooks": [{"type": "agent", "prompt": QUESTION, **hook}]}]
        model = ScriptedModel([ECHO, say("done"), say("more")], sub={QUESTION: list(answers)}, order="queue")
        opened.append(model.start())
        given = ("--settings", json.dumps({"hooks": {event: asked}}), "--allowedTools", "Bash(echo *)")
        talk = workspace.talk(model, *given, env=env)
        talk.model = model
        talk.prompt()
        return talk, talk.result()

    yield start
    for model in opened:
        model.close()


def of_the_check(talk):
    return [request for request in talk.model.requests if QUESTION in json.dumps(request.messages[0])]


@pytest.mark.feature("HOOK-23")
def test_a_check_that_says_no_keeps_the_call_from_running(checked, workspace):
    (workspace.project / "a.txt").write_text("alpha")
    talk, result = checked(
        call("Read", file_path=str(workspace.project / "a.txt")), verdict(ok=False, reason="Alpha is wrong.")
    )

    assert "Alpha is wrong." in talk.tool_results()[0]["content"]
    assert len(talk.tool_results()) == 1  # nobody is shown what the check did
    assert "alpha" in json.dumps(of_the_check(talk)[1].messages[-1])
    assert result["modelUsage"]["claude-sonnet-4-5"]["inputTokens"] == 2 * result["usage"]["input_tokens"]


def test_a_check_asks_nobody_and_runs_only_what_is_allowed(checked, workspace):
    talk, result = checked(
        call("Bash", command="touch made.txt"), verdict(ok=True), env={"CLAUDE_AGENT_SDK_VERSION": "1.0"}
    )

    assert talk.of("control_request") == []
    assert talk.of("system", "permission_denied") == []
    assert [each["tool_input"]["command"] for each in result["permission_denials"]] == ["touch made.txt"]
    assert not (workspace.project / "made.txt").exists()
    assert talk.tool_results()[0]["content"] == "one"


def test_a_verdict_that_does_not_fit_may_be_mended(checked):
    talk, _ = checked(verdict(fine=True), verdict(ok="maybe"), verdict(ok=True, sure=True))

    assert talk.tool_results()[0]["content"] == "one"
    assert len(of_the_check(talk)) == 3


def test_a_check_without_a_verdict_is_urged_once_and_told_of(checked):
    talk, _ = checked(say("I do not know"), say("really"))

    assert talk.of("system", "informational")[0]["tag"] == "hook_no_verdict"
    assert talk.tool_results()[0]["content"] == "one"
    assert len(of_the_check(talk)) == 2


def test_a_check_that_the_api_refuses_is_told_of(checked):
    talk, _ = checked(fail(400))

    assert talk.of("system", "informational")[0]["hook_no_verdict"]["timed_out"] is False
    assert talk.tool_results()[0]["content"] == "one"


def test_a_check_ends_at_its_fiftieth_turn(checked):
    talk, _ = checked(*[call("Bash", command=f"echo {n}") for n in range(60)])

    assert len(of_the_check(talk)) == 50
    assert talk.tool_results()[0]["content"] == "one"


def test_a_check_of_the_end_makes_the_model_go_on(checked):
    talk, result = checked(verdict(ok=False, reason="Not done."), verdict(ok=True), event="Stop")

    assert result["result"] == "more"
    assert "Not done." in json.dumps(talk.of("user")[-1])
