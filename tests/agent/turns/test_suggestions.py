"""Prompts that are suggested to the host after a turn."""

import pytest

from claude_wrapper.agent.turns.suggesting import as_suggestion
from claude_wrapper.testing import ScriptedModel, fail, say


@pytest.mark.parametrize(
    "text", ["run the tests again", "yes", "What is next?", "fix the error: x", "/clear"]
)
def test_what_a_user_might_say_is_suggested(text):
    assert as_suggestion(f' "{text}"\n') == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "one two\nthree",
        "word " * 13,
        "Let me know",
        "Looks good to me",
        "push it. Then merge",
        "**a b**",
    ],
)
def test_what_reads_like_something_else_is_not(text):
    assert as_suggestion(text) is None


@pytest.mark.feature("CLI-11", "STREAM-08")
def test_from_the_second_turn_on_a_prompt_is_suggested_behind_the_result(workspace):
    script = [say("one"), say("two"), say("run the tests"), say("three"), say("commit")]
    with ScriptedModel(script, order="queue") as model:
        talk = workspace.talk(model, "--prompt-suggestions")
        talk.prompt("first")
        talk.result()
        talk.prompt("second")
        talk.result()
        assert talk.wait(type="prompt_suggestion")["suggestion"] == "run the tests"
        talk.prompt("third")
        talk.result()
        assert talk.wait(type="prompt_suggestion")["suggestion"] == "commit"
        assert talk.close() == 0

    kinds = [frame["type"] for frame in talk.frames if frame["type"] in {"result", "prompt_suggestion"}]
    assert kinds == ["result", "result", "prompt_suggestion", "result", "prompt_suggestion"]
    # The question is no part of the conversation.
    asked = [message["content"] for message in model.requests[3].messages if message["role"] == "assistant"]
    assert len(asked) == 2


@pytest.mark.feature("CLI-11")
def test_a_host_may_ask_for_them_when_it_introduces_itself(workspace):
    with ScriptedModel([say("one"), say("two"), say("go on then")], order="queue") as model:
        talk = workspace.talk(model)
        talk.initialize(promptSuggestions=True)
        for word in ("first", "second"):
            talk.prompt(word)
            talk.result()
        assert talk.wait(type="prompt_suggestion")["suggestion"] == "go on then"
        assert talk.close() == 0


@pytest.mark.feature("CLI-11")
def test_a_failed_suggestion_is_silence(workspace, eventually):
    with ScriptedModel([say("one"), say("two"), fail(400), say("three"), fail(400)], order="queue") as model:
        talk = workspace.talk(model, "--prompt-suggestions=true")
        for word in ("first", "second"):
            talk.prompt(word)
            talk.result()
        eventually(lambda: len(model.requests) == 3)
        talk.prompt("third")
        assert talk.result()["result"] == "three"
        assert talk.close() == 0
    assert not talk.of("prompt_suggestion")


@pytest.mark.feature("CLI-11")
def test_nobody_is_asked_unless_suggestions_are_wanted(workspace):
    with ScriptedModel([say("one"), say("two"), say("three")], order="queue") as model:
        talk = workspace.talk(model, "--prompt-suggestions=false")
        for word in ("first", "second", "third"):
            talk.prompt(word)
            talk.result()
        assert talk.close() == 0
    assert len(model.requests) == 3
