"""Commands that are answered without the model."""

import pytest

from claude_wrapper.testing import ScriptedModel, call, say


def ask(talk, text, **fields):
    talk.prompt(text, **fields)
    return talk.result()


@pytest.mark.feature("LOOP-13")
def test_clearing_begins_another_session_with_a_budget_of_its_own(workspace):
    with ScriptedModel([say("a")]) as model:
        talk = workspace.talk(model, "--max-budget-usd", "0.000001")
        first = ask(talk, "one")
        spent = ask(talk, "two")
        cleared = ask(talk, "/clear")
        again = ask(talk, "three")
        talk.close()

    assert (first["subtype"], spent["subtype"]) == ("error_max_budget_usd",) * 2
    assert (cleared["subtype"], cleared["total_cost_usd"], cleared["num_turns"]) == ("success", 0, 0)
    assert again["session_id"] == cleared["session_id"] != spent["session_id"]
    assert [len(request.messages) for request in model.requests] == [1, 1]
    assert sorted(path.stem for path in workspace.transcripts()) == sorted(
        {first["session_id"], again["session_id"]}
    )


def test_what_a_command_says_is_known_to_the_model_afterwards(workspace):
    with ScriptedModel([say("a")]) as model:
        talk = workspace.talk(model)
        answer = ask(talk, "/cost")
        ask(talk, "go")
        talk.close()

    assert answer["local_command"] == "cost"
    assert "Estimated cost" in answer["result"]
    assert "Estimated cost" in str(model.requests[0].messages)


def test_a_command_waits_for_the_turn_and_has_one_of_its_own(workspace):
    with ScriptedModel([call("Bash", command="sleep 0.5"), say("done")], order="queue") as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt("go")
        talk.wait(type="assistant")
        talk.prompt("/clear")
        talk.prompt("and this")
        assert talk.result()["result"] == "done"
        assert talk.result()["local_command"] == "clear"
        talk.close()

    assert "and this" in str(model.requests[1].messages)


@pytest.mark.parametrize("text", ["/nosuch", " /cost", "/Cost", "/", "/cost/x"])
def test_what_is_no_command_goes_to_the_model(workspace, text):
    with ScriptedModel([say("a")]) as model:
        talk = workspace.talk(model)
        ask(talk, text)
        ask(talk, "/cost", client_composed=True)
        talk.close()

    assert len(model.requests) == 2


def test_commands_can_be_switched_off(workspace):
    talk = workspace.talk(None, "--disable-slash-commands")
    assert ask(talk, "/clear")["result"] == "/clear isn't available in this environment."
    assert talk.close() == 0
