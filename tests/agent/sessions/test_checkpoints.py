"""Checkpoints: files as they were at a prompt, and the way back to it."""

import os

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

ONE, TWO = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"
ON = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true"}
EDITS = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash")


def write(path, content):
    return call("Write", file_path=str(path), content=content)


def turn(talk, uuid):
    talk.prompt("go", uuid=uuid)
    assert talk.result()["subtype"] == "success"


def rewind(talk, uuid, **fields):
    return talk.ask("rewind_files", user_message_id=uuid, **fields)


@pytest.mark.feature("CKPT-01", "CKPT-03")
def test_each_prompt_is_a_state_to_go_back_to(workspace):
    path = workspace.project / "a.txt"
    replies = [write(path, "one\n"), say("a"), write(path, "two\n"), say("b")]
    with ScriptedModel(replies, order="queue") as model:
        talk = workspace.talk(model, *EDITS, env=ON)
        turn(talk, ONE)
        turn(talk, TWO)
        preview = rewind(talk, TWO, dry_run=True)["response"]
        assert path.read_text() == "two\n"
        assert rewind(talk, TWO)["response"] == {"canRewind": True, "skippedLinks": 0}
        second = path.read_text()
        rewind(talk, ONE)
        talk.close()

    assert (preview["filesChanged"], preview["insertions"], preview["deletions"]) == ([str(path)], 1, 1)
    assert second == "one\n"
    assert not path.exists()


@pytest.mark.feature("CKPT-02")
def test_only_what_the_file_tools_change_is_put_back(workspace):
    path, other = workspace.project / "a.sh", workspace.project / "b.txt"
    path.write_text("old\n")
    path.chmod(0o755)
    replies = [
        call("Read", file_path=str(path)),
        write(path, "new\n"),
        call("Bash", command=f"echo x > {other}"),
        say("a"),
    ]
    with ScriptedModel(replies, order="queue") as model:
        talk = workspace.talk(model, *EDITS, env=ON)
        turn(talk, ONE)
        rewind(talk, ONE)
        talk.close()

    assert (path.read_text(), path.stat().st_mode & 0o777, other.exists()) == ("old\n", 0o755, True)
    copies = list((workspace.home / ".claude" / "file-history").rglob("*@v*"))
    assert [copy.stat().st_mode & 0o777 for copy in copies] == [0o600]


@pytest.mark.feature("CKPT-03")
def test_a_file_with_other_names_is_left_alone_and_counted(workspace):
    path = workspace.project / "a.txt"
    with ScriptedModel([write(path, "new\n"), say("a")], order="queue") as model:
        talk = workspace.talk(model, *EDITS, env=ON)
        turn(talk, ONE)
        os.link(path, workspace.project / "b.txt")
        assert rewind(talk, ONE)["response"]["skippedLinks"] == 1
        talk.close()

    assert path.read_text() == "new\n"


@pytest.mark.feature("CKPT-04")
def test_what_cannot_be_gone_back_to_is_named(workspace):
    with ScriptedModel([say("a")]) as model:
        talk = workspace.talk(model, env=ON)
        turn(talk, ONE)
        assert rewind(talk, TWO)["error"] == "No file checkpoint found for this message."
        assert rewind(talk, TWO, dry_run=True)["response"]["canRewind"] is False
        talk.close()
        talk = workspace.talk(model)
        turn(talk, ONE)
        assert rewind(talk, ONE)["error"] == "File rewinding is not enabled."
        talk.close()


@pytest.mark.feature("CKPT-03", "CKPT-04")
def test_a_session_that_is_gone_on_with_knows_its_checkpoints(workspace):
    path = workspace.project / "a.txt"
    path.write_text("old\n")
    session = "11111111-1111-4111-8111-111111111111"
    replies = [call("Read", file_path=str(path)), write(path, "new\n"), say("a")]
    with ScriptedModel(replies, order="queue") as model:
        talk = workspace.talk(model, *EDITS, "--session-id", session, env=ON)
        turn(talk, ONE)
        talk.close()
        talk = workspace.talk(model, *EDITS, f"--resume={session}", env=ON)
        assert rewind(talk, ONE)["response"]["canRewind"] is True
        talk.close()

    assert path.read_text() == "old\n"
