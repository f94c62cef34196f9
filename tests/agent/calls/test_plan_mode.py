"""Plan mode: entered and left by tools, with one file that may be written."""

import re
from pathlib import Path

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

PLAN = ("--permission-mode", "plan")
STDIO = ("--permission-prompt-tool", "stdio")


def write(path, content="x\n"):
    return call("Write", file_path=str(path), content=content)


def plan_file(request):
    """The file that the model is told to plan in."""
    texts = [
        block["text"]
        for message in request.messages
        for block in message["content"]
        if block["type"] == "text"
    ]
    return next(found[1] for text in texts if (found := re.search(r"Write it to (\S+),", text)))


def answer(talk, tool, **response):
    question = talk.wait(type="control_request", request={"subtype": "can_use_tool", "tool_name": tool})
    if response["behavior"] == "allow":
        response = {"updatedInput": question["request"]["input"], **response}
    talk.answer(question, response)
    return question["request"]


@pytest.mark.feature("PERM-12")
def test_the_model_is_told_once_and_may_write_its_plan_and_nothing_else(workspace):
    def to_plan_file(request):
        return write(plan_file(request), "# The plan\nOne step.\n")

    turns = [
        to_plan_file,
        call("ExitPlanMode"),
        write(workspace.project / "n.txt"),
        say("done"),
        say("again"),
    ]
    with ScriptedModel(turns, order="queue") as model:
        talk = workspace.talk(model, *PLAN, *STDIO)
        talk.prompt()
        shown = answer(talk, "ExitPlanMode", behavior="allow")
        answer(talk, "Write", behavior="deny", message="no")
        talk.result()
        talk.prompt("more")
        talk.result()
        told = [str(request.messages).count("Plan mode is on") for request in model.requests]

    assert shown["input"] == {"plan": "# The plan\nOne step.\n", "planFilePath": plan_file(model.requests[0])}
    written, approved, _ = talk.tool_results()
    assert "is_error" not in written
    assert approved["content"].startswith("User has approved your plan.")
    assert "# The plan\nOne step.\n" in approved["content"]
    assert talk.of("system", "status")[-1]["permissionMode"] == "default"
    assert set(told) == {1}


@pytest.mark.feature("PERM-12")
def test_the_host_may_change_the_plan_and_choose_the_mode_after_it(workspace):
    turns = [call("ExitPlanMode", plan="mine"), write(workspace.project / "n.txt"), say("done")]
    with ScriptedModel(turns, order="queue") as model:
        talk = workspace.talk(model, *PLAN, *STDIO)
        talk.prompt()
        mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        shown = answer(
            talk,
            "ExitPlanMode",
            behavior="allow",
            updatedInput={"plan": "Theirs.\n"},
            updatedPermissions=[mode],
        )
        talk.result()

    assert shown["input"] == {}
    result = talk.of("user")[0]["tool_use_result"]
    assert (result["plan"], result["planWasEdited"]) == ("Theirs.\n", True)
    assert [each["permissionMode"] for each in talk.of("system", "status")] == ["acceptEdits"]
    assert (workspace.project / "n.txt").exists()
    assert Path(result["filePath"]).read_text() == "Theirs.\n"


@pytest.mark.feature("PERM-12")
def test_the_model_may_enter_it_and_comes_back_to_the_mode_before(workspace):
    turns = [call("EnterPlanMode"), call("ExitPlanMode"), write(workspace.project / "n.txt"), say("done")]
    with ScriptedModel(turns, order="queue") as model:
        talk = workspace.talk(model, "--permission-mode", "acceptEdits", *STDIO)
        talk.prompt()
        answer(talk, "ExitPlanMode", behavior="allow")
        talk.result()

    assert [each["permissionMode"] for each in talk.of("system", "status")] == ["plan", "acceptEdits"]
    assert (workspace.project / "n.txt").exists()


@pytest.mark.feature("PERM-12")
def test_without_anybody_who_approves_there_is_no_way_into_it(workspace):
    with ScriptedModel([call("EnterPlanMode"), call("ExitPlanMode"), say("done")], order="queue") as model:
        talk = workspace.talk(model)
        talk.prompt()
        talk.result()
        offered = model.requests[0].tool_names

    assert not {"EnterPlanMode", "ExitPlanMode", "AskUserQuestion"} & set(offered)
    assert all("No such tool available" in each["content"] for each in talk.tool_results())


def test_leaving_it_without_being_in_it_is_a_mistake(workspace):
    with ScriptedModel([call("ExitPlanMode"), say("done")], order="queue") as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.result()

    assert talk.tool_results()[0]["content"].startswith("<tool_use_error>You are not in plan mode.")


QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
}


@pytest.mark.feature("PERM-31")
@pytest.mark.parametrize(
    ("said", "content"),
    [
        ({"answers": {"Which colour?": "Blue"}}, 'Your questions have been answered: "Which colour?"="Blue"'),
        ({"answers": {"Which colour?": "Neither"}}, 'The user answered: "Which colour?"="Neither"'),
        ({"answers": {"Which colour?": ["Red", "Blue"]}}, 'The user answered: "Which colour?"="Red,Blue"'),
        ({"answers": {}, "response": "Stop."}, "The user responded: Stop."),
        ({}, "The user did not answer the questions."),
        ({"answers": {"Which colour?": 5}}, "<tool_use_error>The host allowed AskUserQuestion, but"),
    ],
)
def test_what_the_user_answers_comes_with_the_permission(workspace, said, content):
    turns = [call("AskUserQuestion", questions=[QUESTION], answers={"Which colour?": "Red"}), say("done")]
    with ScriptedModel(turns, order="queue") as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        asked = {"questions": [{**QUESTION, "multiSelect": False}]}
        shown = answer(talk, "AskUserQuestion", behavior="allow", updatedInput={**asked, **said})
        talk.result()

    assert shown["input"] == asked
    assert shown["requires_user_interaction"] is True
    assert talk.tool_results()[0]["content"].startswith(content)


def test_questions_that_leave_no_choice_are_mistakes(workspace):
    twice = [QUESTION, QUESTION]
    single = [{**QUESTION, "options": QUESTION["options"][:1]}]
    turns = [call("AskUserQuestion", questions=each) for each in (twice, single, [])]
    with ScriptedModel([*turns, say("done")], order="queue") as model:
        talk = workspace.talk(model, *STDIO)
        talk.prompt()
        talk.result()

    assert [each["is_error"] for each in talk.tool_results()] == [True, True, True]
    assert talk.of("control_request") == []
