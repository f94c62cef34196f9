"""Changing the model by a request."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, say


def hooks(event, command):
    return (
        "--settings",
        json.dumps({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}),
    )


@pytest.fixture
def talk_with(workspace):
    opened = []

    def start(*argv):
        opened.append(ScriptedModel([say("one"), say("two")], order="queue").start())
        talk = workspace.talk(opened[-1], *argv)
        talk.model = opened[-1]
        talk.initialize()
        return talk

    yield start
    for model in opened:
        model.close()


@pytest.mark.parametrize(
    ("wanted", "code"),
    [(7, "invalid_request"), ("  ", "catalog_unknown"), ("claude-opus-4-5", "blocked_by_hook")],
)
def test_a_refusal_names_the_model_that_stays(talk_with, wanted, code):
    answer = talk_with(*hooks("PreModelSwitch", "echo no >&2; exit 2")).ask("set_model", model=wanted)

    assert (answer["error_code"], answer["model"]) == (code, "claude-sonnet-4-5")


def test_hooks_hear_nothing_where_the_model_stays_the_same(talk_with, workspace):
    talk = talk_with(*hooks("PreModelSwitch", "echo asked >> log.txt"))

    assert talk.ask("set_model", model="claude-sonnet-4-5")["response"] == {"model": "claude-sonnet-4-5"}
    assert not (workspace.project / "log.txt").exists()


@pytest.mark.feature("HEVT-22")
def test_hooks_are_told_what_the_switch_may_cost(talk_with, workspace):
    talk = talk_with(*hooks("PreModelSwitch", "cat >> log.txt"))
    talk.prompt()
    talk.result()
    talk.ask("set_model", model="claude-haiku-4-5")
    told = json.loads((workspace.project / "log.txt").read_text())

    assert told["context_tokens"] == 120
    assert (told["prompt_cache_warm"], told["cache_ttl"]) == (True, "5m")
    assert told["estimated_cache_write_usd"] == 0.0002
    assert told["pricing"] == "catalog"


@pytest.mark.feature("HEVT-22")
def test_the_new_model_is_asked_when_hooks_have_said_what_it_is_to_know(talk_with):
    context = {"hookSpecificOutput": {"hookEventName": "PostModelSwitch", "additionalContext": "KNOW THIS"}}
    talk = talk_with(*hooks("PostModelSwitch", f"sleep 0.5; echo '{json.dumps(context)}'"))
    talk.ask("set_model", model="claude-opus-4-5")
    talk.prompt()
    talk.result()

    assert "KNOW THIS" in json.dumps(talk.model.requests[0].messages)
