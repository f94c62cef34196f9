"""Hooks that the host registers: when they are called, and what their answers do."""

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

ECHO = call("Bash", command="echo one")
ALLOW = ("--allowedTools", "Bash")


def hooks(event, *matchers):
    return {event: [{"hookCallbackIds": [f"h{i}"], **matcher} for i, matcher in enumerate(matchers or ({},))]}


def specific(event, **fields):
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


@pytest.fixture
def hooked(workspace):
    """An agent with hooks on a model that calls Bash once, up to the first hook's request."""
    opened = []

    def start(registered, *replies, argv=ALLOW):
        model = ScriptedModel(replies or [ECHO, say("done")]).start()
        opened.append(model)
        talk = workspace.talk(model, *argv)
        talk.initialize(hooks=registered)
        talk.prompt()
        talk.model = model
        return talk

    yield start
    for model in opened:
        model.close()


@pytest.mark.feature("HOOK-28", "HOOK-09", "HEVT-01")
def test_a_hook_is_told_of_the_call_and_of_the_session(hooked, workspace):
    talk = hooked(hooks("PreToolUse"), call("Read", file_path="a.txt"), say("done"))
    request = talk.wait(type="control_request")["request"]
    event = request["input"]

    assert request["callback_id"] == "h0"
    assert request["tool_use_id"] == event["tool_use_id"]
    assert event["hook_event_name"] == "PreToolUse"
    assert event["tool_name"] == "Read"
    assert event["tool_input"] == {"file_path": str(workspace.project / "a.txt")}
    assert event["permission_mode"] == "default"
    assert event["cwd"] == str(workspace.project)
    assert event["transcript_path"].endswith(f"{event['session_id']}.jsonl")
    assert event["prompt_id"]


@pytest.mark.feature("HOOK-02", "PERM-02")
def test_a_hook_that_denies_keeps_the_tool_from_running(hooked, workspace):
    talk = hooked(hooks("PreToolUse"), call("Bash", command="touch ran"), say("done"))
    denial = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="No shell today.")
    talk.answer(talk.wait(type="control_request"), denial)
    result = talk.result()

    assert talk.tool_results()[0]["content"] == "PreToolUse:Bash hook error: No shell today."
    assert len(result["permission_denials"]) == 1
    assert not (workspace.project / "ran").exists()


def test_the_older_form_of_a_denial_and_a_message_for_the_user(hooked):
    talk = hooked(hooks("PreToolUse"))
    talk.answer(
        talk.wait(type="control_request"), {"decision": "block", "reason": "no", "systemMessage": "seen"}
    )
    talk.result()

    assert talk.of("system", "informational")[0]["content"] == "PreToolUse:Bash says: seen"
    assert talk.tool_results()[0]["content"] == "PreToolUse:Bash hook error: no"


@pytest.mark.feature("HEVT-01")
def test_a_hook_may_allow_and_change_the_input(hooked):
    talk = hooked(hooks("PreToolUse"), call("Bash", command="touch a"), say("done"), argv=())
    change = specific(
        "PreToolUse",
        permissionDecision="allow",
        updatedInput={"command": "echo two"},
        additionalContext="it was changed",
    )
    talk.answer(talk.wait(type="control_request"), change)
    talk.result()

    assert talk.tool_results()[0]["content"] == "two"
    meta = talk.of("user")[0]["tool_result_meta"][0]
    assert meta["permission_decision"] == {"decision": "accept", "source": "hook", "reason_type": "hook"}
    sent = talk.model.requests[1].messages[-1]["content"]
    assert "it was changed" in sent[-1]["text"]
    assert "<system-reminder>" in sent[-1]["text"]


@pytest.mark.feature("PERM-02")
def test_a_hook_that_allows_does_not_lift_a_deny_rule(hooked):
    talk = hooked(hooks("PreToolUse"), argv=("--disallowedTools", "Bash(echo *)"))
    talk.answer(talk.wait(type="control_request"), specific("PreToolUse", permissionDecision="allow"))
    talk.result()

    assert "has been denied" in talk.tool_results()[0]["content"]


@pytest.mark.feature("PERM-03", "HOOK-07")
def test_all_hooks_are_asked_at_once_and_the_strictest_answer_counts(hooked):
    talk = hooked(hooks("PreToolUse", {"matcher": "Bash|Read"}, {"matcher": "B.*"}, {"matcher": "Edit"}, {}))
    requests = [talk.wait(type="control_request") for _ in range(3)]
    assert [request["request"]["callback_id"] for request in requests] == ["h0", "h1", "h3"]
    talk.answer(requests[2], {})
    talk.answer(requests[1], specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"))
    talk.answer(requests[0], specific("PreToolUse", permissionDecision="allow"))
    talk.result()

    assert talk.tool_results()[0]["content"] == "PreToolUse:Bash hook error: no"


@pytest.mark.feature("HEVT-02")
def test_a_deferred_call_ends_the_run_with_the_call_undone(hooked):
    talk = hooked(hooks("PreToolUse"))
    talk.answer(talk.wait(type="control_request"), specific("PreToolUse", permissionDecision="defer"))
    result = talk.result()

    assert (result["stop_reason"], result["terminal_reason"]) == ("tool_deferred", "tool_deferred")
    assert result["deferred_tool_use"]["name"] == "Bash"
    assert talk.tool_results() == []
    assert talk.close() == 0


@pytest.mark.feature("HOOK-16")
def test_a_hook_may_stop_the_loop_behind_the_call(hooked):
    talk = hooked(hooks("PostToolUse"))
    talk.answer(talk.wait(type="control_request"), {"continue": False, "stopReason": "enough"})
    result = talk.result()

    assert (result["subtype"], result["result"], result["terminal_reason"]) == ("success", "", "hook_stopped")
    assert len(talk.model.requests) == 1


@pytest.mark.feature("HEVT-04")
def test_a_hook_may_replace_what_the_tool_gave_back(hooked):
    talk = hooked(hooks("PostToolUse"))
    request = talk.wait(type="control_request")
    assert request["request"]["input"]["tool_response"]["stdout"] == "one"
    replaced = {**request["request"]["input"]["tool_response"], "stdout": "replaced"}
    talk.answer(request, specific("PostToolUse", updatedToolOutput=replaced))
    talk.result()

    assert talk.tool_results()[0]["content"] == "replaced"
    assert talk.of("user")[0]["tool_use_result"] == replaced


@pytest.mark.feature("HEVT-04")
def test_a_replacement_that_does_not_fit_the_tool_is_ignored(hooked):
    talk = hooked(hooks("PostToolUse"))
    talk.answer(talk.wait(type="control_request"), specific("PostToolUse", updatedToolOutput="just text"))
    talk.result()

    assert talk.tool_results()[0]["content"] == "one"


@pytest.mark.feature("HEVT-05")
def test_a_failed_call_is_told_to_its_own_hooks(hooked):
    talk = hooked(hooks("PostToolUseFailure"), call("Bash", command="exit 3"), say("done"))
    event = talk.wait(type="control_request")
    assert event["request"]["input"]["error"] == "Exit code 3"
    talk.answer(event, {})
    talk.result()


@pytest.mark.feature("HEVT-06")
def test_a_round_of_calls_is_told_once_and_may_be_the_last(hooked):
    talk = hooked(hooks("PostToolBatch"), ECHO + call("Bash", command="echo two"), say("never"))
    event = talk.wait(type="control_request")
    assert [each["tool_response"] for each in event["request"]["input"]["tool_calls"]] == ["one", "two"]
    talk.answer(event, {"decision": "block", "reason": "halt"})
    assert talk.result()["terminal_reason"] == "hook_stopped"


@pytest.mark.feature("HEVT-09")
def test_a_prompt_may_be_blocked(hooked):
    talk = hooked(hooks("UserPromptSubmit"))
    talk.answer(talk.wait(type="control_request"), {"decision": "block", "reason": "Refused."})
    result = talk.result()

    text = "UserPromptSubmit operation blocked by hook:\nRefused.\n\nOriginal prompt: go"
    assert (result["result"], result["num_turns"]) == (text, 0)
    assert talk.of("system", "informational")[0]["content"] == text
    assert talk.model.requests == []


@pytest.mark.feature("HEVT-09", "HOOK-18")
def test_context_for_a_prompt_reaches_the_model_beside_it(hooked):
    talk = hooked(hooks("UserPromptSubmit"), say("done"))
    talk.answer(
        talk.wait(type="control_request"), specific("UserPromptSubmit", additionalContext="it is Monday")
    )
    talk.result()

    assert "it is Monday" in str(talk.model.requests[0].messages)


@pytest.mark.feature("HEVT-11")
def test_a_stop_hook_may_keep_the_model_going(hooked):
    talk = hooked(hooks("Stop"), say("first"), say("second"))
    first = talk.wait(type="control_request")
    assert first["request"]["input"]["stop_hook_active"] is False
    assert first["request"]["input"]["last_assistant_message"] == "first"
    talk.answer(first, {"decision": "block", "reason": "One more step."})
    second = talk.wait(type="control_request")
    assert second["request"]["input"]["stop_hook_active"] is True
    talk.answer(second, {})
    result = talk.result()

    note = talk.of("user")[0]
    assert note["message"]["content"][0]["text"] == "Stop hook feedback:\nOne more step."
    assert result["num_turns"] == 2


@pytest.mark.feature("HEVT-11")
def test_a_stop_hook_that_always_blocks_is_overruled_in_the_end(hooked):
    talk = hooked(hooks("Stop"), *[say(f"try {n}") for n in range(9)])
    for _ in range(9):
        talk.answer(talk.wait(type="control_request"), {"decision": "block", "reason": "again"})
    assert talk.result()["subtype"] == "success"
    assert len(talk.model.requests) == 9


@pytest.mark.feature("HOOK-14")
def test_a_hook_that_is_late_stops_the_call_and_is_told_so(hooked, workspace):
    talk = hooked(hooks("PreToolUse", {"timeout": 0.2}), call("Bash", command="touch ran"), say("done"))
    request = talk.wait(type="control_request")
    withdrawn = talk.wait(type="control_cancel_request")
    talk.result()

    assert withdrawn["request_id"] == request["request_id"]
    assert talk.tool_results()[0]["is_error"] is True
    assert not (workspace.project / "ran").exists()


@pytest.mark.feature("HOOK-15")
@pytest.mark.parametrize(("on_failure", "runs"), [(None, True), ("continue", True), ("block", False)])
def test_what_a_failing_hook_means_is_the_hosts_choice(hooked, on_failure, runs):
    talk = hooked(hooks("PreToolUse", {"onFailure": on_failure} if on_failure else {}))
    talk.fail(talk.wait(type="control_request"), "hook broke")
    talk.result()

    assert talk.of("system", "informational")[0]["tag"] == "hook_callback_failed"
    assert talk.tool_results()[0]["is_error"] is not runs


@pytest.mark.feature("HOOK-17")
def test_an_answer_to_another_event_is_no_licence(hooked, workspace):
    talk = hooked(hooks("PreToolUse"), call("Bash", command="touch ran"), say("done"))
    talk.answer(talk.wait(type="control_request"), specific("PostToolUse", additionalContext="x"))
    talk.result()

    assert talk.tool_results()[0]["is_error"] is True
    assert not (workspace.project / "ran").exists()


@pytest.mark.feature("HOOK-20")
def test_a_hook_that_goes_on_by_itself_has_no_opinion(hooked):
    talk = hooked(hooks("PreToolUse"))
    talk.answer(talk.wait(type="control_request"), {"async": True, "asyncTimeout": 1000})
    talk.result()

    assert talk.tool_results()[0]["content"] == "one"


@pytest.mark.feature("HEVT-07")
def test_a_hook_may_answer_in_place_of_the_user(hooked, workspace):
    talk = hooked(
        hooks("PermissionRequest"),
        call("Write", file_path="n.txt", content="x"),
        say("done"),
        argv=("--permission-prompt-tool", "stdio"),
    )
    question = talk.wait(type="control_request", request={"subtype": "can_use_tool"})
    hook = talk.wait(type="control_request", request={"subtype": "hook_callback"})
    assert hook["request"]["tool_use_id"] == question["request"]["tool_use_id"]
    path = str(workspace.project / "hooked.txt")
    decision = {"behavior": "allow", "updatedInput": {"file_path": path, "content": "h"}}
    talk.answer(hook, specific("PermissionRequest", decision=decision))
    assert talk.wait(type="control_cancel_request")["request_id"] == question["request_id"]
    talk.result()

    assert (workspace.project / "hooked.txt").read_text() == "h"


def test_the_end_of_stdin_leaves_a_call_undone_that_a_hook_had_to_decide_on(hooked, workspace):
    talk = hooked(hooks("PreToolUse"), call("Bash", command="touch ran"), say("done"))
    talk.wait(type="control_request")
    assert talk.close() == 0

    assert talk.tool_results()[0]["is_error"] is True
    assert not (workspace.project / "ran").exists()


def test_new_hooks_take_the_place_of_the_old_ones(hooked):
    talk = hooked(hooks("Stop"), say("one"), say("two"))
    talk.answer(talk.wait(type="control_request"), {})
    talk.result()
    talk.control("again", "initialize", hooks=hooks("PreToolUse"))
    talk.wait(type="system", subtype="background_tasks_changed")
    talk.prompt()
    talk.result()

    assert len(talk.of("control_request")) == 1
