"""Sessions on disk: written as they happen, gone on with, copied, cut."""

import json
import os
import signal
import stat

import pytest

from claude_wrapper.testing import ScriptedModel, call, say

ID = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
NONE = "33333333-3333-4333-8333-333333333333"


def one(workspace, *argv, prompt="go", replies=None, **fields):
    """A run with one prompt; the model and the talk."""
    with ScriptedModel(replies or [say("Answer.")], order="queue") as model:
        talk = workspace.talk(model, *argv)
        talk.prompt(prompt, **fields)
        talk.result()
        talk.code = talk.close()
    return model, talk


@pytest.mark.feature("SESS-01", "SESS-02")
def test_a_transcript_is_a_private_chain_of_entries(workspace):
    _, talk = one(
        workspace, "--session-id", ID, prompt="hello", replies=[call("Bash", command="echo 1"), say("done")]
    )

    (path,) = workspace.transcripts()
    assert path.name == f"{ID}.jsonl"
    key = "".join(c if c.isascii() and c.isalnum() else "-" for c in os.path.realpath(workspace.project))
    assert path.parent.name == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    chain = [e for e in workspace.entries() if "uuid" in e]
    assert [e["type"] for e in chain] == ["user", "assistant", "user", "assistant"]
    assert [e["parentUuid"] for e in chain] == [None, *[e["uuid"] for e in chain[:-1]]]
    assert {e["sessionId"] for e in chain} == {ID}
    assert {e["cwd"] for e in chain} == {str(workspace.project)}
    assert {e["uuid"] for e in chain if e["type"] == "assistant"} == {f["uuid"] for f in talk.of("assistant")}
    assert chain[2]["toolUseResult"]["stdout"] == "1"
    last = [e for e in workspace.entries() if e["type"] == "last-prompt"][-1]
    assert (last["lastPrompt"], last["leafUuid"]) == ("hello", chain[-1]["uuid"])


@pytest.mark.feature("SESS-02")
def test_a_line_is_there_before_the_frame_that_tells_of_it(workspace):
    with ScriptedModel([call("Bash", command="sleep 300")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash")
        talk.prompt()
        frame = talk.wait(type="assistant")
        talk.signal(signal.SIGKILL)
        talk.process.wait(40)

    assert workspace.entries()[-1]["uuid"] == frame["uuid"]


@pytest.mark.feature("SESS-04", "RES-02")
def test_a_resumed_session_goes_on_with_history_and_costs(workspace):
    one(workspace, "--session-id", ID, prompt="One")
    model, talk = one(workspace, f"--resume={ID}", prompt="Two")

    assert [m["content"][0]["text"] for m in model.requests[0].messages] == ["One", "Answer.", "Two"]
    result = talk.of("result")[0]
    assert result["session_id"] == ID
    assert result["total_cost_usd"] == pytest.approx(0.0012)
    assert result["modelUsage"]["claude-sonnet-4-5"]["inputTokens"] == 200
    assert result["usage"]["input_tokens"] == 100
    assert len(workspace.transcripts()) == 1


@pytest.mark.feature("SESS-06")
def test_a_fork_copies_the_history_and_leaves_the_original_alone(workspace):
    one(workspace, "--session-id", ID, prompt="One")
    before = workspace.transcripts()[0].read_bytes()
    model, talk = one(workspace, f"--resume={ID}", "--fork-session", f"--session-id={OTHER}", prompt="Two")

    assert talk.of("result")[0]["session_id"] == OTHER
    assert len(model.requests[0].messages) == 3
    original, copy = workspace.transcripts()
    assert original.read_bytes() == before
    entries = workspace.entries(copy)
    assert {e["sessionId"] for e in entries} == {OTHER}
    chain = [e for e in entries if "uuid" in e]
    assert [e["parentUuid"] for e in chain] == [None, *[e["uuid"] for e in chain[:-1]]]


@pytest.mark.feature("SESS-05")
def test_continue_takes_the_newest_session_of_the_folder(workspace):
    one(workspace, "--session-id", ID, prompt="One")
    one(workspace, "--session-id", OTHER, prompt="Other")
    os.utime(next(p for p in workspace.transcripts() if p.stem == ID), (2**31, 2**31))
    model, talk = one(workspace, "--continue", prompt="More")

    assert talk.of("result")[0]["session_id"] == ID
    assert model.requests[0].messages[0]["content"][0]["text"] == "One"


def test_continue_without_a_session_begins_one(workspace):
    model, _ = one(workspace, "--continue")

    assert len(model.requests[0].messages) == 1


@pytest.mark.feature("SESS-07")
def test_the_history_can_be_cut_at_a_message(workspace):
    _, talk = one(workspace, "--session-id", ID, prompt="One")
    at = talk.of("assistant")[0]["uuid"]
    one(workspace, f"--resume={ID}", prompt="Two")
    model, _ = one(workspace, f"--resume={ID}", f"--resume-session-at={at}", "--fork-session", prompt="Three")

    assert [m["content"][0]["text"] for m in model.requests[0].messages] == ["One", "Answer.", "Three"]


@pytest.mark.feature("SESS-07")
def test_no_more_is_cut_than_the_turn_that_was_named(workspace):
    prompt = "aaaaaaaa-0000-4000-8000-000000000001"
    _, talk = one(workspace, "--session-id", ID, prompt="One")
    at = talk.of("assistant")[0]["uuid"]
    one(workspace, f"--resume={ID}", prompt="Two", uuid=prompt)
    _, talk = one(
        workspace,
        f"--resume={ID}",
        f"--resume-session-at={at}",
        f"--resume-drops-turn={prompt}",
        "--fork-session",
    )
    assert talk.code == 0

    one(workspace, f"--resume={ID}", prompt="Three")
    refused = workspace.talk(
        None, f"--resume={ID}", f"--resume-session-at={at}", f"--resume-drops-turn={prompt}"
    )
    assert refused.exit_code() == 1
    assert refused.frames[0]["errors"][0].startswith("Resume rejected by --resume-drops-turn:")


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        ((f"--resume={NONE}",), f"No conversation found with session ID: {NONE}"),
        (
            ("--resume=nonsense",),
            "Error: --resume: 'nonsense' is neither the id nor the title of a session of this folder.",
        ),
        ((f"--resume={ID}", f"--resume-session-at={NONE}"), f"No message found with message.uuid of: {NONE}"),
    ],
)
def test_a_session_that_is_not_there_gives_one_failed_result(workspace, argv, text):
    one(workspace, "--session-id", ID)
    talk = workspace.talk(None, *argv)

    assert talk.exit_code() == 1
    (result,) = talk.frames
    assert (result["subtype"], result["is_error"], result["num_turns"]) == ("error_during_execution", True, 0)
    assert result["errors"] == [text]
    assert "terminal_reason" not in result
    assert text in talk.errors.decode()


@pytest.mark.feature("SESS-03")
@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("--session-id", ID), f"Session ID {ID} is already in use."),
        (("--session-id", "not-a-uuid"), "Invalid session ID. Must be a valid UUID."),
        (("--session-id", OTHER, "--resume", ID), "--fork-session"),
    ],
)
def test_ids_that_cannot_be_used_are_refused_at_once(workspace, argv, text):
    one(workspace, "--session-id", ID)
    code, out, err = workspace.run(None, "-p", "x", *argv)

    assert (code, out) == (1, "")
    assert text in err


@pytest.mark.feature("SESS-10")
def test_a_killed_session_resumes_with_its_open_call_answered(workspace):
    with ScriptedModel([call("Bash", command="sleep 300")]) as model:
        talk = workspace.talk(model, "--allowedTools", "Bash", "--session-id", ID)
        talk.prompt("One")
        talk.wait(type="assistant")
        talk.signal(signal.SIGKILL)
        talk.process.wait(40)
    model, talk = one(workspace, f"--resume={ID}", prompt="Two")

    roles = [m["role"] for m in model.requests[0].messages]
    answered = model.requests[0].messages[2]["content"]
    assert roles == ["user", "assistant", "user"]
    assert [block["type"] for block in answered] == ["tool_result", "text"]
    assert answered[0]["is_error"] is True
    assert talk.of("result")[0]["subtype"] == "success"


def test_results_of_calls_that_ran_side_by_side_are_all_found_again(workspace):
    reply = call("Bash", command="sleep 0.2; echo slow") + call("Bash", command="echo fast")
    one(workspace, "--session-id", ID, "--allowedTools", "Bash", replies=[reply, say("done")])
    model, _ = one(workspace, f"--resume={ID}", prompt="Two")

    results = model.requests[0].messages[2]["content"]
    assert [block["content"] for block in results] == ["slow", "fast"]


@pytest.mark.feature("SESS-09")
@pytest.mark.parametrize(
    ("argv", "env"), [(("--no-session-persistence",), {}), ((), {"CLAUDE_CODE_SKIP_PROMPT_HISTORY": "1"})]
)
def test_a_session_may_leave_no_transcript(workspace, argv, env):
    with ScriptedModel([say("hi")]) as model:
        talk = workspace.talk(model, *argv, env=env)
        talk.prompt()
        talk.result()
        talk.close()

    assert workspace.transcripts() == []


def test_the_mirror_repeats_every_line(workspace):
    _, talk = one(workspace, "--session-mirror", replies=[call("Bash", command="echo 1"), say("done")])

    mirrored = [entry for frame in talk.of("transcript_mirror") for entry in frame["entries"]]
    assert mirrored == workspace.entries()
    assert {frame["filePath"] for frame in talk.of("transcript_mirror")} == {str(workspace.transcripts()[0])}


def test_a_broken_last_line_costs_that_line_only(workspace):
    one(workspace, "--session-id", ID, prompt="One")
    path = workspace.transcripts()[0]
    path.write_bytes(path.read_bytes() + b'{"type":"user","uu')
    model, _ = one(workspace, f"--resume={ID}", prompt="Two")
    again, _ = one(workspace, f"--resume={ID}", prompt="Three")

    assert len(model.requests[0].messages) == 3
    assert len(again.requests[0].messages) == 5


def test_a_folder_that_cannot_be_written_does_not_cost_the_session(workspace):
    (workspace.home / ".claude").write_text("in the way")
    _, talk = one(workspace)

    assert talk.of("result")[0]["result"] == "Answer."


@pytest.mark.feature("CLI-13", "SESS-04", "SESS-11")
def test_a_session_may_be_named_by_its_title(workspace):
    with ScriptedModel([say("a")]) as model:
        workspace.run(model, "-p", "--name", "The lions", "--session-id", ID, "remember")
        code, out, _ = workspace.run(model, "-p", "--resume", "The lions", "--output-format=json", "go on")

    assert (code, json.loads(out)["session_id"]) == (0, ID)
