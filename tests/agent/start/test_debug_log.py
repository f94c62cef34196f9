"""The debug log."""

import pytest

from claude_wrapper.testing import ScriptedModel, fail, say

KEY = "sk-test-0123456789"


@pytest.mark.feature("CLI-12")
def test_the_log_goes_to_the_file_that_was_named_and_nowhere_else(workspace):
    with ScriptedModel([say("hello")]) as model:
        code, out, err = workspace.run(model, "-p", "--debug-file", "logs/d.txt", "hi")

    path = workspace.project / "logs" / "d.txt"
    assert (code, out, err) == (0, "hello\n", "")
    assert "ResultFrame (success)" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.feature("CLI-12")
@pytest.mark.parametrize("folder", [None, "elsewhere"])
def test_without_a_name_it_has_a_place_of_its_own(workspace, folder):
    env = {"CLAUDE_CODE_DEBUG_LOGS_DIR": folder} if folder else {}
    with ScriptedModel([say("hello")]) as model:
        workspace.run(model, "-p", "hi", "--debug", env=env)

    place = workspace.project / folder if folder else workspace.home / ".claude" / "debug"
    assert len(list(place.glob("*.txt"))) == 1


def test_no_secret_is_written(workspace):
    env = {"ANTHROPIC_API_KEY": KEY, "MY_SERVICE_PASSWORD": "hunter2hunter2", "CLAUDE_CODE_MAX_RETRIES": "0"}
    env["ANTHROPIC_CUSTOM_HEADERS"] = "x-proxy-token: letmein-letmein"
    with ScriptedModel([fail(500, message=f"{KEY} is wrong")]) as model:
        talk = workspace.talk(model, "--debug-file", "d.txt", env=env)
        talk.ask("read_file", path=f"{KEY}/hunter2hunter2")
        talk.prompt("hi", uuid=f"aaaaaaaa-{KEY}")
        talk.result()
        talk.close()

    text = (workspace.project / "d.txt").read_text()
    assert "read_file" in text
    assert not any(secret in text for secret in (KEY, "hunter2hunter2", "letmein-letmein"))


def test_topics_can_be_chosen(workspace):
    with ScriptedModel([say("hello")]) as model:
        for topics, name in (("frames", "a"), ("!frames", "b")):
            workspace.run(model, "-p", "hi", f"--debug={topics}", "--debug-file", name)

    assert "ResultFrame" in (workspace.project / "a").read_text()
    assert "ResultFrame" not in (workspace.project / "b").read_text()
