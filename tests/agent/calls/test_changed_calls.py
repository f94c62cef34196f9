"""Calls that an answer to the permission question allows with another input."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

STDIO = ("--permission-prompt-tool", "stdio")
TOUCH = call("Bash", command="touch asked")


@pytest.fixture
def answered(workspace):
    """Answer the question about a call, and return what came of it."""
    models = []

    def run(wish, updated, *argv, before=None):
        steps = [step for step in (before, wish, say("done")) if step is not None]
        model = ScriptedModel(steps).start()
        models.append(model)
        talk = workspace.talk(model, *STDIO, *argv)
        talk.prompt()
        question = talk.wait(type="control_request")
        if callable(updated):
            updated = updated(question["request"]["input"])
        talk.answer(question, {"behavior": "allow", "updatedInput": updated})
        talk.result()
        frame = [frame for frame in talk.of("user") if "tool_use_result" in frame][-1]
        return frame["message"]["content"][0], frame["tool_use_result"]

    yield run
    for model in models:
        model.close()


@pytest.fixture
def hooked(workspace):
    """Let a hook answer the question about a call, and return what came of it."""
    models = []

    def run(wish, updated, *argv):
        model = ScriptedModel([wish, say("done")]).start()
        models.append(model)
        talk = workspace.talk(model, *argv)
        talk.initialize(hooks={"PermissionRequest": [{"matcher": None, "hookCallbackIds": ["hook"]}]})
        talk.prompt()
        asked = talk.wait(type="control_request", request={"subtype": "hook_callback"})
        decision = {"behavior": "allow", "updatedInput": updated}
        talk.answer(
            asked, {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
        )
        talk.result()
        return talk.tool_results()[-1]

    yield run
    for model in models:
        model.close()


@pytest.mark.feature("PERM-22")
def test_an_input_that_comes_back_as_it_was_asked_keeps_the_spelling_of_the_model(answered, workspace):
    block, structured = answered(call("Write", file_path="a.txt", content="x"), lambda asked: asked)

    assert "a.txt" in block["content"]
    assert str(workspace.project) not in block["content"]
    assert structured["filePath"] == "a.txt"
    assert structured["userModified"] is False


def test_an_empty_input_changes_nothing(answered, workspace):
    answered(TOUCH, {})

    assert (workspace.project / "asked").exists()


def test_keys_that_the_tool_does_not_know_are_passed_over(answered, workspace):
    block, _ = answered(TOUCH, {"command": "touch other", "nosuch": 1})

    assert block["is_error"] is False
    assert (workspace.project / "other").exists()
    assert not (workspace.project / "asked").exists()


@pytest.mark.parametrize("updated", [{"command": 5}, {"description": "x"}])
def test_an_input_that_the_tool_cannot_take_is_a_fault_of_the_host(answered, workspace, updated):
    block, structured = answered(TOUCH, updated)

    assert block["is_error"] is True
    assert "host" in block["content"]
    assert "command" in block["content"]
    assert "host" in structured
    assert not (workspace.project / "asked").exists()


@pytest.mark.parametrize(
    ("updated", "modified"),
    [
        ({"content": "other"}, True),
        ({"file_path": "/ELSEWHERE/b.txt"}, False),
    ],
)
def test_the_model_is_told_of_another_text_and_not_of_another_place(answered, workspace, updated, modified):
    updated = {key: value.replace("/ELSEWHERE", str(workspace.project)) for key, value in updated.items()}
    block, structured = answered(
        call("Write", file_path="a.txt", content="x"), lambda asked: {**asked, **updated}
    )

    assert structured["userModified"] is modified
    assert ("user modified" in block["content"]) is modified
    path = workspace.project / ("a.txt" if modified else "b.txt")
    assert path.read_text() == ("other" if modified else "x")


def test_a_changed_edit_is_known_for_one(answered, workspace):
    (workspace.project / "e.txt").write_text("a\n")
    _, structured = answered(
        call("Edit", file_path="e.txt", old_string="a", new_string="b"),
        lambda asked: {**asked, "new_string": "c"},
        before=call("Read", file_path=str(workspace.project / "e.txt")),
    )

    assert structured["userModified"] is True
    assert (workspace.project / "e.txt").read_text() == "c\n"


def test_what_cannot_be_done_with_the_changed_input_is_no_fault_of_the_models_input(answered, workspace):
    (workspace.project / "old.txt").write_text("old")
    block, structured = answered(
        call("Write", file_path="a.txt", content="x"),
        lambda asked: {**asked, "file_path": str(workspace.project / "old.txt")},
    )

    assert block["is_error"] is True
    assert block["content"].startswith("File has not been read yet")
    assert structured == f"Error: {block['content']}"
    assert (workspace.project / "old.txt").read_text() == "old"


@pytest.mark.feature("LOOP-23")
def test_no_answer_gets_past_a_deny_rule(answered, hooked, workspace):
    rule = ("--disallowedTools", "Bash(touch denied)")
    block, _ = answered(TOUCH, {"command": "touch denied"}, *rule)
    assert block["content"] == "Permission to use Bash with command touch denied has been denied."

    block = hooked(TOUCH, {"command": "touch denied"}, *rule)
    assert block["content"] == "Permission to use Bash with command touch denied has been denied."
    assert not (workspace.project / "denied").exists()


@pytest.mark.feature("HEVT-07")
def test_a_hook_gets_past_no_ask_rule_with_another_input(hooked, workspace):
    rules = json.dumps({"permissions": {"ask": ["Bash(touch b)"]}})
    assert hooked(TOUCH, {"command": "touch b"}, "--settings", rules)["is_error"] is True
    assert hooked(TOUCH, {"command": "touch c"}, "--settings", rules)["is_error"] is False

    assert not (workspace.project / "b").exists()
    assert (workspace.project / "c").exists()


def test_a_hooks_input_that_the_tool_cannot_take_denies(hooked, workspace):
    block = hooked(TOUCH, {"command": 7})

    assert block["is_error"] is True
    assert block["content"].startswith("PermissionRequest hook for Bash")
    assert not (workspace.project / "asked").exists()


@pytest.mark.feature("PERM-22", "PERM-23")
def test_a_mode_that_an_answer_sets_does_not_deny_what_the_answer_allows(workspace):
    mode = {"type": "setMode", "mode": "dontAsk", "destination": "session"}
    reply = {"behavior": "allow", "updatedInput": {"command": "touch other"}, "updatedPermissions": [mode]}
    steps = [TOUCH, call("Bash", command="touch later"), say("done")]
    with ScriptedModel(steps) as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.answer(talk.wait(type="control_request"), reply)
        talk.result()

    assert (workspace.project / "other").exists()
    assert not (workspace.project / "later").exists()


@pytest.mark.feature("PERM-22")
def test_a_rule_denies_what_an_answer_makes_of_a_call_in_every_mode(workspace):
    mode = {"type": "setMode", "mode": "dontAsk", "destination": "session"}
    reply = {"behavior": "allow", "updatedInput": {"command": "touch other"}, "updatedPermissions": [mode]}
    with ScriptedModel([TOUCH, say("done")]) as model:
        talk = workspace.talk(model, *STDIO, "--disallowedTools", "Bash(touch other)")
        talk.prompt()
        talk.answer(talk.wait(type="control_request"), reply)
        talk.result()

    assert not (workspace.project / "other").exists()
