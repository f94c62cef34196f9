"""A session whose settings change while it runs."""

import json

import pytest

from claude_wrapper.testing import ScriptedModel, call, say, turn

pytestmark = pytest.mark.feature("SET-06")
ROOT = {"IS_SANDBOX": "1"}


@pytest.fixture
def session(workspace):
    """An agent on a model that calls these tools, one in each turn."""
    opened = []

    def start(*replies, argv=("--permission-mode", "acceptEdits"), initialize=None):
        model = ScriptedModel(list(replies), count_all=True).start()
        opened.append(model)
        talk = workspace.talk(model, "--permission-prompt-tool", "stdio", *argv, env=ROOT)
        talk.initialize(**(initialize or {}))
        return talk

    yield start
    for model in opened:
        model.close()


def touch(name):
    return call("Bash", command=f"touch {name}")


def write(workspace, settings, name="settings.local.json"):
    path = workspace.project / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings) if isinstance(settings, dict) else settings)


def deny(*rules, **more):
    return {"permissions": {"deny": list(rules)}, **more}


def ran(talk, workspace, name):
    talk.prompt()
    talk.result()
    return (workspace.project / name).exists()


def command(text):
    return [{"hooks": [{"type": "command", "command": text}]}]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_rule_holds_from_the_call_after_it_was_written(session, workspace):
    talk = session(touch("a"), say("."), touch("b"), say("."))
    assert ran(talk, workspace, "a")
    write(workspace, deny("Bash(touch b)"))

    assert not ran(talk, workspace, "b")
    assert talk.of("system", "permission_denied")[0]["decision_reason_type"] == "rule"


def test_a_rule_holds_from_the_next_call_of_the_same_reply(session, workspace):
    write(workspace, {"permissions": {"allow": ["Bash(./deny)"]}})
    script = workspace.project / "deny"
    script.write_text("#!/bin/sh\ncp new.json .claude/settings.local.json\n")
    script.chmod(0o700)
    (workspace.project / "new.json").write_text(json.dumps(deny("Bash(touch b)")))
    talk = session(turn(call("Bash", command="./deny"), touch("b")), say("."))

    assert not ran(talk, workspace, "b")


def test_what_the_session_was_given_stays(session, workspace):
    argv = ("--disallowedTools", "Bash(touch c)", "--settings", json.dumps(deny("Bash(touch d)")))
    talk = session(
        touch("c"), say("."), touch("d"), say("."), argv=("--permission-mode", "acceptEdits", *argv)
    )
    write(workspace, deny("Write"))

    assert not ran(talk, workspace, "c")
    assert not ran(talk, workspace, "d")


def test_new_hooks_are_asked_and_old_ones_are_not(session, workspace):
    write(workspace, {"hooks": {"PreToolUse": command("touch old")}})
    talk = session(touch("a"), say("."))
    write(workspace, {"hooks": {"PreToolUse": command("exit 2")}})

    assert not ran(talk, workspace, "a")
    assert not (workspace.project / "old").exists()


def test_variables_reach_commands_and_hooks_and_are_taken_back(session, workspace):
    echo = call("Bash", command="echo $ONE$TWO")
    write(workspace, {"env": {"ONE": "1", "TWO": "2"}})
    talk = session(echo, say("."), argv=("--allowedTools", "Bash"))
    write(workspace, {"env": {"ONE": "3"}, "hooks": {"PreToolUse": command("echo $ONE$TWO > seen")}})
    talk.prompt()
    talk.result()

    assert talk.tool_results()[0]["content"] == "3"
    assert (workspace.project / "seen").read_text() == "3\n"


def test_a_mode_that_is_forbidden_now_is_left(session, workspace):
    talk = session(touch("a"), say("."), argv=("--permission-mode", "bypassPermissions"))
    write(workspace, {"permissions": {"disableBypassPermissionsMode": "disable"}})
    talk.prompt()
    question = talk.wait(type="control_request")
    talk.answer(question, {"behavior": "deny", "message": "no"})
    talk.result()

    assert question["request"]["subtype"] == "can_use_tool"
    assert talk.of("system", "status")[0]["permissionMode"] == "default"


def test_the_model_and_the_mode_stay_as_they_were(session, workspace):
    talk = session(say("."), argv=())
    write(workspace, {"model": "claude-haiku-4-5", "permissions": {"defaultMode": "acceptEdits"}})
    talk.prompt()
    talk.result()
    (init,) = talk.of("system", "init")

    assert init["model"] == "claude-sonnet-4-5"
    assert init["permissionMode"] == "default"


def test_hosts_that_ask_see_the_settings_in_force(session, workspace):
    talk = session(say("."))
    write(workspace, {"language": "en"})
    talk.prompt()
    talk.result()

    assert talk.ask("get_settings")["response"]["effective"]["language"] == "en"


@pytest.mark.feature("HEVT-21")
def test_hooks_are_told_which_settings_have_changed(session, workspace):
    hooks = [
        {"matcher": name, "hooks": [{"type": "command", "command": f"cat >> {name}.txt"}]}
        for name in ("local_settings", "user_settings")
    ]
    talk = session(say("."), argv=("--settings", json.dumps({"hooks": {"ConfigChange": hooks}})))
    write(workspace, deny("Write"))
    talk.prompt()
    talk.result()
    (event,) = lines(workspace.project / "local_settings.txt")

    assert event["hook_event_name"] == "ConfigChange"
    assert event["source"] == "local_settings"
    assert event["file_path"] == str(workspace.project / ".claude" / "settings.local.json")
    assert "permission_mode" not in event
    assert not (workspace.project / "user_settings.txt").exists()


@pytest.mark.feature("HEVT-21")
def test_hooks_are_told_while_nothing_else_happens(session, workspace, eventually):
    hooks = {"hooks": {"ConfigChange": command("cat >> told.txt")}}
    session(say("."), argv=("--settings", json.dumps(hooks)))
    write(workspace, deny("Write"))

    eventually(lambda: len(lines(workspace.project / "told.txt")) == 1)


@pytest.mark.feature("HEVT-21", "HOOK-11")
@pytest.mark.parametrize("answer", ["exit 2", """echo '{"decision": "block", "reason": "no"}'"""])
def test_a_hook_can_keep_the_old_settings(session, workspace, answer):
    hooks = {"hooks": {"ConfigChange": command(answer)}}
    write(workspace, deny("Bash(touch a)"))
    argv = ("--permission-mode", "acceptEdits", "--settings", json.dumps(hooks))
    talk = session(touch("a"), say("."), argv=argv)
    write(workspace, {})

    assert not ran(talk, workspace, "a")


@pytest.mark.feature("HEVT-21")
def test_a_callback_of_the_host_can_keep_the_old_settings(session, workspace):
    hooks = {"ConfigChange": [{"matcher": None, "hookCallbackIds": ["one"]}]}
    talk = session(touch("a"), say("."), initialize={"hooks": hooks})
    write(workspace, deny("Bash(touch a)"))
    asked = talk.wait(type="control_request")
    talk.answer(asked, {"decision": "block", "reason": "no"})

    assert asked["request"]["input"]["source"] == "local_settings"
    assert ran(talk, workspace, "a")


def test_a_rule_that_an_answer_wrote_down_is_no_news(session, workspace):
    hooks = {"hooks": {"ConfigChange": command("cat >> told.txt")}}
    rule = {"toolName": "Bash", "ruleContent": "touch *"}
    update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
    talk = session(
        touch("a"), touch("b"), say("."), touch("c"), say("."), argv=("--settings", json.dumps(hooks))
    )
    talk.prompt()
    question = talk.wait(type="control_request")
    talk.answer(question, {"behavior": "allow", "updatedInput": {}, "updatedPermissions": [update]})
    talk.result()

    assert ran(talk, workspace, "c")
    assert len(talk.of("control_request")) == 1
    assert lines(workspace.project / "told.txt") == []


@pytest.mark.feature("HEVT-21")
class TestFiles:
    def hooked(self, session, **hooks):
        given = {"hooks": {"FileChanged": [{"matcher": "a.txt", **command("cat >> told.txt")[0]}], **hooks}}
        talk = session(say("."), argv=("--settings", json.dumps(given)))
        talk.prompt()
        talk.result()
        return talk

    def test_hooks_hear_of_a_file_that_comes_changes_and_goes(self, session, workspace, eventually):
        self.hooked(session)
        told, file = workspace.project / "told.txt", workspace.project / "a.txt"
        (workspace.project / "b.txt").write_text("not this one")
        for number, change in enumerate(
            (lambda: file.write_text("1"), lambda: file.write_text("22"), file.unlink)
        ):
            change()
            eventually(lambda number=number: len(lines(told)) == number + 1)

        assert [event["event"] for event in lines(told)] == ["add", "change", "unlink"]
        assert {event["file_path"] for event in lines(told)} == {str(file)}

    def test_hooks_of_the_start_can_name_folders_to_watch(self, session, workspace, eventually):
        folder = workspace.project / "sub"
        (folder / "deep").mkdir(parents=True)
        output = {"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": [str(folder)]}}
        everything = command("cat >> all.txt")
        workspace.home.joinpath(".claude").mkdir()
        workspace.home.joinpath(".claude", "settings.json").write_text(
            json.dumps({"hooks": {"FileChanged": everything}})
        )
        self.hooked(session, SessionStart=command(f"echo '{json.dumps(output)}'"), PreToolUse=[])
        told = workspace.project / "all.txt"

        def seen():
            (folder / "deep" / f"x{len(list((folder / 'deep').iterdir()))}").write_text("1")
            return bool(lines(told))

        eventually(seen)
        assert lines(told)[0]["event"] == "add"
        assert lines(told)[0]["file_path"].startswith(str(folder / "deep"))
