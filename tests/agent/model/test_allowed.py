"""Settings that name the models which a session may use."""

import json

import pytest

from claude_wrapper.agent.model.allowed import AllowedModels
from claude_wrapper.testing import ScriptedModel, say

pytestmark = pytest.mark.feature("SET-13")
DEFAULT = "claude-opus-5-5"


@pytest.mark.parametrize(
    ("listed", "name", "used"),
    [
        (None, "claude-opus-4-5", "claude-opus-4-5"),
        (["sonnet"], None, DEFAULT),
        (["sonnet"], "default", DEFAULT),
        (["sonnet"], "opus", None),
        (["sonnet"], "claude-opus-4-5", None),
        (["sonnet"], "sonnet", "claude-sonnet-5-5"),
        (["sonnet"], "Sonnet", "claude-sonnet-5-5"),
        (["sonnet"], "sonnet[1m]", "claude-sonnet-5-5"),
        (["sonnet"], "claude-sonnet-4-5", "claude-sonnet-4-5"),
        (["claude-sonnet-4-5"], "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"),
        (["claude-sonnet-4-5"], "claude-sonnet-4-6", None),
        (["sonnet", "claude-sonnet-4-5"], "claude-sonnet-4-6", None),
        (["claude-sonnet-4-5", "haiku"], "haiku", "claude-haiku-5-5"),
        ([], "sonnet", None),
        ([3, "sonnet"], "haiku", None),
        (["sonnet"], "my-own-model", None),
        (["my-own-model"], "my-own-model", "my-own-model"),
    ],
)
def test_a_name_is_used_if_the_list_has_it(listed, name, used):
    choice = AllowedModels(listed, {}).choose(name)
    assert (choice.model.name, choice.wanted) == ((DEFAULT, name) if used is None else (used, None))


def test_an_alias_becomes_the_newest_of_its_family_that_is_listed():
    listed = ["opus", "claude-opus-4-5", "claude-opus-4-8", "claude-opus-4-6-20260101", "claude-sonnet-5-5"]
    choice = AllowedModels(listed, {}).choose("opus")
    assert (choice.model.name, choice.wanted) == ("claude-opus-4-8", "opus")


def test_what_was_asked_for_at_the_start_is_replaced_and_told(workspace):
    given = json.dumps({"availableModels": ["haiku"], "fallbackModel": ["opus"]})
    with ScriptedModel([say(".")]) as model:
        talk = workspace.talk(model, "--settings", given)
        talk.prompt()
        talk.result()
        (request,) = model.requests
    (told,) = talk.of("system", "informational")

    assert request.body["model"] == DEFAULT
    assert told["model_restriction"] == {
        "requested_model": "claude-sonnet-4-5",
        "effective_model": DEFAULT,
        "at": "start",
    }


def test_a_switch_to_another_model_is_refused(workspace):
    with ScriptedModel([say(".")]) as model:
        talk = workspace.talk(model, "--settings", '{"availableModels": ["sonnet"]}')
        refused = talk.ask("set_model", model="opus")
        allowed = talk.ask("set_model", model="claude-sonnet-5")
        talk.prompt()
        talk.result()
        (request,) = model.requests

    assert refused["error_code"] == "restricted_by_org"
    assert allowed["response"] == {"model": "claude-sonnet-5"}
    assert request.body["model"] == "claude-sonnet-5"
