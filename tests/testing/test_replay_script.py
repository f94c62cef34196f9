"""The order of a replay and its checks, without any transport."""

import pytest

from claude_wrapper.testing import ReplayError
from claude_wrapper.testing.recording_file import Entry
from claude_wrapper.testing.replay_script import END, WAIT, ReplayScript


def user(text, **more):
    return {"type": "user", "message": {"role": "user", "content": text}, **more}


def request(request_id, subtype, **fields):
    return {"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **fields}}


def answer(request_id, **body):
    inner = {"subtype": "success", "request_id": request_id, "response": body}
    return {"type": "control_response", "response": inner}


def sent(frame):
    return Entry(at=0.0, kind="sent", frame=frame)


def received(frame, at=0.0):
    return Entry(at=at, kind="received", frame=frame)


INPUT_END = Entry(at=0.0, kind="input_end")
AGENT_END = Entry(at=0.0, kind="end", exit_code=3, stderr="last words")
CLOSED = Entry(at=0.0, kind="closed")
HI, BYE = {"type": "assistant", "n": 1}, {"type": "result", "n": 2}


def test_a_frame_of_the_agent_waits_for_those_of_the_program_before_it():
    script = ReplayScript([sent(user("a")), received(HI), sent(user("b")), received(BYE)])

    assert script.next() is WAIT
    script.take(user("a"))
    assert script.next() == HI
    assert script.next() is WAIT
    script.take(user("b"))
    assert script.next() == BYE


def test_the_program_may_be_ahead_of_the_recording():
    script = ReplayScript([sent(user("a")), received(HI), sent(user("b")), received(BYE)])
    script.take(user("a"))
    script.take(user("b"))
    assert [script.next(), script.next()] == [HI, BYE]


def test_prompts_come_in_their_order_and_answers_in_any():
    asked = [received(request(name, "can_use_tool", tool_name="Bash")) for name in ("r1", "r2")]
    script = ReplayScript([*asked, sent(answer("r1", behavior="allow")), sent(answer("r2", behavior="deny"))])
    script.take(answer("r2", behavior="deny"))
    script.take(answer("r1", behavior="allow"))
    assert script.unsent is None

    script = ReplayScript([sent(user("a")), sent(user("b"))])
    with pytest.raises(ReplayError, match=r'message.content: recorded "a", sent "b"'):
        script.take(user("b"))


def test_another_answer_is_told_with_the_question_and_the_line():
    script = ReplayScript(
        [received(request("r1", "can_use_tool", tool_name="Bash")), sent(answer("r1", behavior="allow"))]
    )
    with pytest.raises(ReplayError) as caught:
        script.take(answer("r1", behavior="deny", message="no"))

    assert str(caught.value).splitlines() == [
        "The answer to can_use_tool for Bash is not as in line 3 of the recording:",
        '  response.response.behavior: recorded "allow", sent "deny"',
        '  response.response.message: recorded nothing, sent "no"',
    ]


@pytest.mark.parametrize(
    ("frame", "title"),
    [
        (user("b"), "The prompt"),
        (request("q", "set_model", model="x"), "The request set_model"),
        (answer("r9", behavior="allow"), "The answer to the request r9, which the agent never made"),
        ({"type": "odd"}, "The frame odd"),
    ],
)
def test_what_nobody_recorded_is_refused(frame, title):
    script = ReplayScript([sent(user("a"))])
    script.take(user("a"))
    with pytest.raises(ReplayError, match=f"{title} is not in the recording"):
        script.take(frame)


def test_ids_of_the_recording_are_those_of_the_program_now():
    result = {"type": "result", "user_message_uuids": ["old", "other"]}
    script = ReplayScript(
        [
            sent(request("then", "initialize")),
            received(answer("then", commands=[])),
            sent(user("a", uuid="old")),
            received(result),
            sent(request("req", "cancel_async_message", message_uuid="old")),
        ]
    )
    script.take(request("now", "initialize"))
    assert script.next() == answer("now", commands=[])
    script.take(user("a", uuid="new"))
    assert script.next() == {"type": "result", "user_message_uuids": ["new", "other"]}
    script.take(request("req2", "cancel_async_message", message_uuid="new"))


def test_of_the_handshake_only_what_the_agent_refers_to_is_compared():
    hooks = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]}
    recorded = [sent(request("a", "initialize", hooks=hooks, title="t"))]
    ReplayScript(recorded).take(request("b", "initialize", hooks=hooks, systemPrompt=["s"]))

    with pytest.raises(ReplayError, match=r"request.hooks.PreToolUse\[0\].matcher"):
        ReplayScript(recorded).take(
            request(
                "b", "initialize", hooks={"PreToolUse": [{"matcher": "Read", "hookCallbackIds": ["hook_0"]}]}
            )
        )


def test_an_interrupt_that_was_not_recorded_is_answered_and_one_that_was_may_be_left_out():
    script = ReplayScript([received(HI)])
    script.take(request("i", "interrupt"))
    assert [script.next(), script.next()] == [answer("i"), HI]

    script = ReplayScript([sent(request("i", "interrupt")), received(HI)])
    assert script.next() is WAIT
    assert "interrupt" in script.awaited
    assert script.unsent is None


def test_frames_that_depend_on_the_clock_are_neither_wanted_nor_refused():
    cancel = {"type": "control_cancel_request", "request_id": "x"}
    script = ReplayScript([sent(cancel), received(HI)])
    assert script.next() == HI
    script.take({"type": "keep_alive"})
    script.take(cancel)


def test_the_agent_ends_when_the_input_has_ended_as_it_did_then():
    script = ReplayScript([sent(user("a")), INPUT_END, received(HI), AGENT_END])
    script.take(user("a"))
    assert script.next() == HI
    assert script.next() is WAIT
    assert script.awaited == "the end of the program's input"
    script.input_ended()
    assert script.next() is END
    assert (script.end.exit_code, script.end.stderr) == (3, "last words")


def test_an_agent_that_ended_by_itself_ends_by_itself():
    assert ReplayScript([AGENT_END]).next() is END


def test_input_that_ends_too_early_is_told_with_what_is_missing():
    script = ReplayScript([sent(user("a")), sent(user("b"))])
    script.take(user("a"))
    with pytest.raises(ReplayError, match=r"without the prompt \(line 3 of the recording\)"):
        script.input_ended()


def test_behind_the_recording_the_program_is_expected_to_close():
    for entries in ([], [CLOSED]):
        script = ReplayScript(entries)
        assert script.next() is WAIT
        assert "the recording ends here" in script.awaited
