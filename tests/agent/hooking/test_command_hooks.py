"""Hooks that settings name, in a running agent."""

import json
import signal
from pathlib import Path

import pytest

from claude_wrapper.testing import ScriptedModel, call, fail, say

ECHO = call("Bash", command="echo one")
ALLOW = ("--allowedTools", "Bash")


def settings(event, *hooks, **more):
    return ("--settings", json.dumps({"hooks": {event: [{"hooks": list(hooks)}]}, **more}))


def command(text, **fields):
    return {"type": "command", "command": text, **fields}


@pytest.fixture
def hooked(workspace):
    """An agent with hooks in its settings, on a model that calls Bash once."""
    opened = []

    def start(given, *replies, argv=ALLOW, env=None, **model):
        script = ScriptedModel(list(replies) or [ECHO, say("done")], **model).start()
        opened.append(script)
        talk = workspace.talk(script, *given, *argv, env=env)
        talk.model = script
        talk.initialize()
        return talk

    yield start
    for model in opened:
        model.close()


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.feature("HOOK-08")
def test_a_hook_gets_no_key_of_the_model(hooked, workspace):
    talk = hooked(settings("PreToolUse", command("env > env.txt")))
    talk.prompt()
    talk.result()
    environment = (workspace.project / "env.txt").read_text()

    assert "ANTHROPIC_API_KEY" not in environment
    assert f"CLAUDE_PROJECT_DIR={workspace.project}" in environment
    assert "CLAUDECODE=1" in environment


def test_a_hook_is_told_of_a_transcript_though_none_is_kept(hooked, workspace):
    record = settings("PreToolUse", command("cat > told.json"))
    talk = hooked(record, argv=(*ALLOW, "--no-session-persistence"))
    talk.prompt()
    talk.result()
    (told,) = lines(workspace.project / "told.json")

    assert told["transcript_path"].endswith(f"/{told['session_id']}.jsonl")
    assert not Path(told["transcript_path"]).exists()


@pytest.mark.feature("HEVT-16")
@pytest.mark.parametrize("end", ["close", "terminate"])
def test_the_end_of_a_session_is_told_however_it_comes(hooked, workspace, end):
    talk = hooked(settings("SessionEnd", command("cat >> end.txt")))
    talk.prompt()
    talk.result()
    if end == "close":
        talk.close()
    else:
        talk.signal(signal.SIGTERM)
        talk.exit_code()

    (event,) = lines(workspace.project / "end.txt")
    assert (event["hook_event_name"], event["reason"]) == ("SessionEnd", "other")


@pytest.mark.feature("HOOK-13")
def test_hooks_of_the_end_have_little_time(hooked, workspace, alive):
    talk = hooked(settings("SessionEnd", command("echo $$ > pid; sleep 60")))
    talk.prompt()
    talk.result()
    talk.close()

    assert not alive(int((workspace.project / "pid").read_text()))


def test_a_hook_that_hangs_ends_with_the_agent(hooked, workspace, alive, eventually):
    talk = hooked(settings("PreToolUse", command("sleep 60 & echo $! > child; echo $$ > pid; wait")))
    talk.prompt()
    eventually(lambda: (workspace.project / "pid").exists() and (workspace.project / "pid").read_text())
    talk.signal(signal.SIGTERM)
    talk.exit_code()

    for name in ("pid", "child"):
        pid = int((workspace.project / name).read_text())
        eventually(lambda pid=pid: not alive(pid))


def test_an_interrupt_ends_the_hook_that_the_turn_waits_for(hooked, workspace, alive, eventually):
    talk = hooked(settings("PreToolUse", command("echo $$ > pid; sleep 60")))
    talk.prompt()
    eventually(lambda: (workspace.project / "pid").exists() and (workspace.project / "pid").read_text())
    talk.ask("interrupt")
    talk.result()

    pid = int((workspace.project / "pid").read_text())
    eventually(lambda: not alive(pid))


@pytest.mark.feature("HOOK-20")
def test_a_hook_that_nobody_waits_for_ends_with_the_session_and_is_told_as_cancelled(
    hooked, workspace, alive
):
    talk = hooked(
        settings("Stop", command("echo $$ > pid; sleep 60", **{"async": True})),
        say("done"),
        argv=("--include-hook-events",),
    )
    talk.prompt()
    talk.result()
    talk.close()
    pid = workspace.project / "pid"

    assert talk.of("system", "hook_response")[0]["outcome"] == "cancelled"
    assert not pid.exists() or not alive(int(pid.read_text()))


@pytest.mark.feature("HOOK-26")
def test_without_the_flag_only_hooks_of_the_start_are_shown(hooked):
    both = {event: [{"hooks": [command("echo x")]}] for event in ("SessionStart", "PreToolUse")}
    talk = hooked(("--settings", json.dumps({"hooks": both})))
    talk.prompt()
    talk.result()

    assert [frame["hook_name"] for frame in talk.of("system", "hook_started")] == ["SessionStart:startup"]
    assert len(talk.of("system", "hook_response")) == 1


@pytest.mark.feature("HOOK-26")
def test_a_hook_that_takes_its_time_is_shown_with_what_it_has_said(hooked):
    talk = hooked(
        settings("PreToolUse", command("echo begun; sleep 1.5; echo over")),
        argv=(*ALLOW, "--include-hook-events"),
    )
    talk.prompt()
    talk.result()
    (progress,) = talk.of("system", "hook_progress")
    (response,) = talk.of("system", "hook_response")

    assert progress["stdout"] == progress["output"] == "begun\n"
    assert progress["hook_id"] == response["hook_id"]
    assert response["stdout"] == "begun\nover\n"


@pytest.mark.feature("HOOK-07")
def test_hooks_run_at_the_same_time_and_all_they_say_is_told(hooked):
    """Each waits for the other two: one after another they would never end."""
    meet = "touch at-{0}; until [ -e at-a ] && [ -e at-b ] && [ -e at-c ]; do sleep 0.05; done; echo {1}"
    texts = ("lions", "bears", "wolves")
    hooks = [command(meet.format(name, text), timeout=10) for name, text in zip("abc", texts, strict=True)]
    talk = hooked(settings("UserPromptSubmit", *hooks), say("done"))
    talk.prompt()
    talk.result()
    sent = json.dumps(talk.model.requests[0].messages)

    assert all(text in sent for text in texts)


@pytest.mark.feature("HEVT-12")
def test_a_turn_that_the_api_fails_is_told_as_such(hooked, workspace):
    talk = hooked(settings("StopFailure", command("cat >> failed.txt")), fail(400, times=None))
    talk.prompt()
    result = talk.result()
    (event,) = lines(workspace.project / "failed.txt")

    assert event["error"] == "invalid_request" or event["error"] == "unknown"
    assert event["last_assistant_message"] == result["result"]


@pytest.mark.feature("HEVT-18")
def test_hooks_are_told_of_a_question_that_stays_open(hooked, workspace, eventually):
    talk = hooked(
        settings("Notification", command("cat > note.txt")),
        call("Bash", command="touch made"),
        say("done"),
        argv=("--permission-prompt-tool", "stdio"),
    )
    talk.prompt()
    asked = talk.wait(type="control_request", request={"subtype": "can_use_tool"})
    note = workspace.project / "note.txt"
    eventually(lambda: note.exists() and note.read_text(), seconds=15)
    talk.answer(asked, {"behavior": "allow", "updatedInput": asked["request"]["input"]})
    talk.result()

    assert lines(note)[0]["notification_type"] == "permission_prompt"
    assert (workspace.project / "made").exists()


@pytest.mark.feature("HOOK-22")
def test_a_tool_that_is_not_there_is_no_verdict(hooked):
    hook = {"type": "mcp_tool", "server": "nosuch", "tool": "t", "input": {"a": "${tool_name}"}}
    talk = hooked(settings("PreToolUse", hook))
    talk.prompt()
    talk.result()

    assert talk.of("system", "informational")[0]["tag"] == "hook_no_verdict"
    assert talk.tool_results()[0]["content"] == "one"


@pytest.mark.feature("HOOK-23")
def test_a_model_is_asked_beside_the_conversation_and_what_that_costs_is_counted(hooked):
    talk = hooked(
        settings("PreToolUse", {"type": "prompt", "prompt": "Is this fine?", "model": "claude-opus-4-5"}),
        side={"Is this fine?": [say('{"ok": true, "reason": "yes"}')]},
    )
    talk.prompt()
    result = talk.result()

    assert talk.tool_results()[0]["content"] == "one"
    assert set(result["modelUsage"]) == {"claude-sonnet-4-5", "claude-opus-4-5"}


@pytest.mark.feature("HEVT-14")
def test_a_start_of_a_session_may_bring_a_prompt_of_its_own(workspace):
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "initialUserMessage": "first of all"}}
    model = ScriptedModel([say("one")]).start()
    given = settings("SessionStart", command(f"echo '{json.dumps(answer)}'"))
    try:
        code, _, _ = workspace.run(model, "-p", *given, "second")
        asked = [json.dumps(request.messages[-1]) for request in model.requests]
    finally:
        model.close()

    assert code == 0
    assert ["first of all" in asked[0], "second" in asked[-1]] == [True, True]


SDK = {"CLAUDE_AGENT_SDK_VERSION": "1.0", "CLAUDE_CODE_ENTRYPOINT": "sdk-py"}


def test_what_is_wrong_with_hooks_is_told_on_stderr_and_to_a_library(hooked):
    talk = hooked(settings("PreToolUs", command("echo x")), env=SDK)
    talk.prompt()
    talk.result()
    told = talk.of("system", "informational")[0]
    talk.close()

    assert told["tag"] == "settings_not_in_effect"
    assert "hooks.PreToolUs" in told["content"]
    assert b"hooks.PreToolUs" in talk.errors


@pytest.mark.feature("SET-05")
@pytest.mark.parametrize(
    "given",
    [
        {"model": 5},
        {"permissions": {"deny": ["Bash("]}},
        {"permissions": {"deny": [5]}},
        {"permissions": {"deny": ["bash"]}},
        {"hooks": {"Stop": "x"}},
        {"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}},
    ],
)
def test_a_library_is_told_once_of_settings_that_are_not_in_force(hooked, given):
    talk = hooked(("--settings", json.dumps(given)), env=SDK)
    for _ in range(2):
        talk.prompt()
        talk.result()
    told = talk.of("system", "informational")
    talk.close()

    assert [frame["tag"] for frame in told] == ["settings_not_in_effect"]
    assert "--settings" in told[0]["content"]


def test_a_library_is_told_of_rules_on_the_command_line_that_are_none(hooked):
    talk = hooked(("--disallowedTools", "Bash("), argv=(), env=SDK)
    talk.prompt()
    talk.result()
    told = talk.of("system", "informational")
    talk.close()

    assert ["--disallowedTools" in frame["content"] for frame in told] == [True]


def test_who_drives_the_agent_without_a_library_is_told_on_stderr_only(hooked):
    talk = hooked(("--settings", json.dumps({"model": 5})))
    talk.prompt()
    talk.result()
    told = talk.of("system", "informational")
    talk.close()

    assert told == []
    assert b"--settings" in talk.errors


@pytest.mark.feature("HOOK-18")
def test_what_a_start_adds_stands_before_the_first_prompt_and_is_kept(hooked, workspace):
    talk = hooked(settings("SessionStart", command("echo remember the lions")), say("done"))
    talk.prompt("what now")
    talk.result()
    content = talk.model.requests[0].messages[0]["content"]
    texts = [block["text"] for block in content]
    talk.close()

    place = next(i for i, text in enumerate(texts) if "remember the lions" in text)
    assert texts[place + 1 :] == ["what now"]
    kept = [entry for entry in workspace.entries() if "remember the lions" in json.dumps(entry)]
    assert kept[0]["isMeta"] is True


@pytest.mark.feature("HOOK-20")
def test_a_hook_that_objects_after_the_end_of_the_turn_wakes_the_model(hooked):
    once = "[ -e woken ] && exit 0; touch woken; echo look again >&2; exit 2"
    talk = hooked(settings("Stop", command(once, asyncRewake=True)), say("one"), say("two"), order="queue")
    talk.prompt()
    first, second = talk.result(), talk.result()

    assert (first["result"], second["result"]) == ("one", "two")
    assert "look again" in json.dumps(talk.model.requests[1].messages[-1])


@pytest.mark.feature("HOOK-05")
def test_what_matchers_are_compared_with(hooked, workspace):
    subjects = {
        "SessionStart": "startup",
        "SessionEnd": "other",
        "PreToolUse": "Bash",
        "PostToolUse": "Bash",
        "PreModelSwitch": "claude-opus-4-5",
        "PostModelSwitch": "claude-opus-4-5",
    }
    note = "echo {0}-{1} >> ran.txt"
    hooks = {
        event: [
            {"matcher": subject, "hooks": [command(note.format(event, "right"))]},
            {"matcher": "nosuch", "hooks": [command(note.format(event, "wrong"))]},
        ]
        for event, subject in subjects.items()
    }
    hooks["Stop"] = [{"matcher": "nosuch", "hooks": [command(note.format("Stop", "right"))]}]
    talk = hooked(("--settings", json.dumps({"hooks": hooks})))
    talk.ask("set_model", model="claude-opus-4-5")
    talk.prompt()
    talk.result()
    talk.close()

    ran = (workspace.project / "ran.txt").read_text().split()
    assert sorted(ran) == sorted(f"{event}-right" for event in hooks)


@pytest.mark.feature("HEVT-22")
def test_a_hook_may_refuse_another_model(hooked):
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreModelSwitch",
            "permissionDecision": "deny",
            "permissionDecisionReason": "not that one",
        }
    }
    talk = hooked(settings("PreModelSwitch", command(f"echo '{json.dumps(answer)}'")))
    refused = talk.ask("set_model", model="claude-opus-4-5")
    talk.prompt()
    talk.result()

    assert (refused["subtype"], refused["error_code"]) == ("error", "blocked_by_hook")
    assert refused["error"].endswith("not that one")
    assert talk.model.requests[0].body["model"] == "claude-sonnet-4-5"


@pytest.mark.feature("HEVT-20")
def test_hooks_may_keep_a_task_from_the_list_and_from_being_called_done(hooked):
    refusing = json.dumps({"decision": "block", "reason": "not yet"})
    given = {
        "TaskCreated": [{"hooks": [command("grep -q First && exit 0; echo too many >&2; exit 2")]}],
        "TaskCompleted": [{"hooks": [command(f"echo '{refusing}'")]}],
    }
    talk = hooked(
        ("--settings", json.dumps({"hooks": given})),
        call("TaskCreate", subject="First", description="d"),
        call("TaskCreate", subject="Second", description="d"),
        call("TaskUpdate", taskId="1", status="completed", subject="New"),
        call("TaskList"),
        say("done"),
        argv=("--allowedTools", "TaskCreate", "TaskUpdate", "TaskList"),
    )
    talk.prompt()
    talk.result()
    results = [block for frame in talk.of("user") for block in frame["message"]["content"]]
    talk.close()

    assert [block.get("is_error") for block in results] == [None, True, None, None]
    assert results[1]["content"].startswith("TaskCreated hook feedback:\n")
    assert "too many" in results[1]["content"]
    assert results[2]["content"] == "TaskCompleted hook feedback:\nnot yet"
    assert results[3]["content"] == "#1 [pending] First"


@pytest.mark.feature("PERM-12")
def test_no_hook_allows_changes_while_the_work_is_planned(hooked):
    allow = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    talk = hooked(
        settings("PreToolUse", command(f"echo '{json.dumps(allow)}'")),
        call("Bash", command="touch planned"),
        say("done"),
        argv=("--permission-mode", "plan"),
    )
    talk.prompt()
    denials = talk.result()["permission_denials"]
    talk.close()

    assert [denial["tool_name"] for denial in denials] == ["Bash"]


@pytest.mark.feature("HEVT-14")
def test_commands_get_the_variables_of_hooks_and_not_the_file_they_stand_in(hooked):
    talk = hooked(
        settings("SessionStart", command('echo "export LEFT=three" >> "$CLAUDE_ENV_FILE"')),
        call("Bash", command="echo $LEFT-$CLAUDE_ENV_FILE-"),
        say("done"),
    )
    talk.prompt()
    talk.result()
    results = [block["content"] for frame in talk.of("user") for block in frame["message"]["content"]]
    talk.close()

    assert results == ["three--"]
