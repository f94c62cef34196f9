"""query(): one run against an agent process that plays its part well or badly."""

import contextvars
import json
import logging
import os
import signal
from pathlib import Path

import anyio
import pytest

from claude_wrapper import (
    AbortedError,
    AgentExitedError,
    AgentStartError,
    ApiError,
    AssistantMessage,
    AuthenticationError,
    BudgetExceededError,
    ClaudeAgentOptions,
    CLIConnectionError,
    CLINotFoundError,
    ContextLengthError,
    HookMatcher,
    IncompleteTurnError,
    MaxTurnsError,
    MessageParseError,
    ModelNotFoundError,
    OverloadedError,
    PermissionResultAllow,
    ProcessError,
    RateLimitError,
    ResultError,
    ResultMessage,
    SessionNotFoundError,
    StreamEvent,
    SystemMessage,
    TextBlock,
    UnknownBlock,
    UnknownMessage,
    query,
)
from claude_wrapper.testing.agent_frames import delta
from claude_wrapper.testing.agent_run import process_state

pytestmark = pytest.mark.anyio


async def run(agent, prompt="go", into=None, **options):
    """All messages of a run, bounded in time; `into` keeps those that came before an error."""
    messages = [] if into is None else into
    with anyio.fail_after(40):
        async for message in query(prompt=prompt, options=ClaudeAgentOptions(cli_path=agent.path, **options)):
            messages.append(message)  # what came before an error is wanted
    return messages


def kinds(messages):
    return [type(m).__name__ for m in messages]


def texts(messages):
    return [b.text for m in messages if isinstance(m, AssistantMessage) for b in m.content]


# -- a run that goes well


async def test_a_run_gives_its_messages_and_ends_with_the_agent(agent):
    messages = await run(agent.begin().say("hi").result("done"))

    assert kinds(messages) == ["SystemMessage", "AssistantMessage", "ResultMessage"]
    assert (texts(messages), messages[-1].result) == (["hi"], "done")
    agent.runs[0].wait_gone()


@pytest.mark.feature("WRAP-02")
async def test_every_run_is_a_conversation_of_streams_with_a_handshake(agent):
    await run(agent.begin().result("done"), prompt="say hi")

    argv = agent.runs[0].argv
    for name in ("--input-format", "--output-format"):
        assert argv[argv.index(name) + 1] == "stream-json"
    assert "--print" not in argv
    handshake, prompt = agent.runs[0].frames
    assert handshake["request"] == {"subtype": "initialize", "hooks": None}
    assert prompt == {
        "type": "user",
        "session_id": "",
        "message": {"role": "user", "content": "say hi"},
        "parent_tool_use_id": None,
    }


@pytest.mark.feature("WRAP-02")
async def test_the_input_stays_open_until_the_result_has_come(agent):
    """The official client closes it behind the prompt, and cannot interrupt the agent any more."""
    messages = await run(agent.begin().say("hi").result("done").wait("eof").say("saw the end"))

    assert texts(messages) == ["hi", "saw the end"]
    assert [f["type"] for f in agent.runs[0].frames] == ["control_request", "user"]


@pytest.mark.feature("STREAM-01", "STREAM-05")
async def test_an_iterable_gives_several_prompts(agent):
    async def prompts():
        for text in ("one", "two"):
            yield {"type": "user", "message": {"role": "user", "content": text}}

    agent.wait("init").wait("user").init().result("first").wait("user").init().result("second")
    messages = await run(agent.wait("eof").say("saw the end"), prompts())

    assert [m.result for m in messages if isinstance(m, ResultMessage)] == ["first", "second"]
    assert texts(messages) == ["saw the end"]


@pytest.mark.feature("STREAM-02")
async def test_an_agent_that_still_has_prompts_to_answer_is_given_its_time(agent):
    async def prompts():
        for text in ("one", "two"):
            yield {"type": "user", "message": {"role": "user", "content": text}}

    agent.wait("init").wait("user").wait("user").init().result("first").sleep(1).result("second")
    messages = await run(agent, prompts(), close_timeout=0.2)

    assert [m.result for m in messages if isinstance(m, ResultMessage)] == ["first", "second"]


@pytest.mark.feature("STREAM-01")
async def test_a_frame_of_an_iterable_reaches_the_agent_as_it_is(agent):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    frame = {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": "what is it?"}, picture]},
        "parent_tool_use_id": None,
        "session_id": "s",
        "uuid": "00000000-0000-4000-8000-000000000001",
        "priority": "now",
        "origin": {"kind": "human"},
    }

    async def prompts():
        yield frame

    await run(agent.begin().result(), prompts())

    assert agent.runs[0].frames_of("user") == [frame]


@pytest.mark.feature("STREAM-06", "LOOP-15")
async def test_pieces_of_a_reply_come_in_their_order_before_the_whole(agent):
    events = ["message_start", "content_block_start", "content_block_delta", "content_block_stop"]
    agent.begin()
    for kind in events[:3]:
        agent.emit({"type": "stream_event", "event": {"type": kind}, "parent_tool_use_id": None})
    agent.say("hi").emit({"type": "stream_event", "event": {"type": events[3]}, "parent_tool_use_id": None})
    messages = await run(agent.result(), include_partial_messages=True)

    assert "--include-partial-messages" in agent.runs[0].argv
    assert [m.event["type"] if isinstance(m, StreamEvent) else type(m).__name__ for m in messages[1:-1]] == [
        *events[:3],
        "AssistantMessage",
        events[3],
    ]


@pytest.mark.feature("LOOP-16")
async def test_what_follows_the_result_is_given_too(agent):
    late = {"type": "system", "subtype": "from_behind"}
    messages = await run(agent.begin().result("done").emit(late))

    assert kinds(messages) == ["SystemMessage", "ResultMessage", "SystemMessage"]


async def test_verbatim_prompts_are_marked_as_composed(agent):
    await run(agent.begin().result(), verbatim_prompts=True)

    assert agent.runs[0].frames_of("user")[0]["client_composed"] is True


@pytest.mark.feature("STREAM-05")
async def test_a_failure_of_the_prompts_is_raised_to_who_iterates(agent):
    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": "one"}}
        raise LookupError("no more prompts")

    with pytest.raises(LookupError, match="no more prompts"):
        await run(agent.begin().wait("eof"), prompts())


@pytest.mark.parametrize("bad", ["text", {"type": "user"}, {"type": "user", "message": {"role": "user"}}])
async def test_a_prompt_of_a_wrong_shape_is_refused(agent, bad):
    async def prompts():
        yield bad

    with pytest.raises(MessageParseError, match=r"prompt must be a dict|must have a message"):
        await run(agent.wait("init").wait("eof"), prompts())


@pytest.mark.parametrize("bad", [None, 5, b"bytes", ["go"], {"type": "user"}])
async def test_what_is_no_prompt_is_refused_before_an_agent_is_started(agent, bad):
    with pytest.raises(MessageParseError, match="prompt must be a str or an async iterable of dicts"):
        await run(agent.begin().result(), bad)

    assert agent.runs == []


# -- how a run may end


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"errors": ["one", "two"]}, "one; two"),
        ({"errors": [], "result": "API Error: 529"}, "API Error: 529"),
        ({"result": None}, "success"),
    ],
)
@pytest.mark.feature("WRAP-08")
async def test_an_error_result_is_told_in_the_words_of_the_official_library(agent, fields, text):
    agent.begin().result(**{"text": "", "is_error": True, "api_error_status": 529, **fields}).exit(1)

    with pytest.raises(ResultError) as caught:
        await run(agent)

    assert str(caught.value) == f"Claude Code returned an error result: {text} (exit code: 1)"
    assert caught.value.api_error_status == 529


API = {"terminal_reason": "api_error"}

KINDS = [
    ({"subtype": "error_max_turns", "terminal_reason": "max_turns"}, None, MaxTurnsError),
    ({"subtype": "error_max_budget_usd"}, None, BudgetExceededError),
    ({"subtype": "error_during_execution", "terminal_reason": "aborted_tools"}, None, AbortedError),
    (
        {"subtype": "error_during_execution", "errors": ["No conversation found with session ID: x"]},
        None,
        SessionNotFoundError,
    ),
    ({**API, "api_error_status": 401}, "authentication_failed", AuthenticationError),
    (API, "authentication_failed", AuthenticationError),
    ({**API, "api_error_status": 429}, "rate_limit", RateLimitError),
    ({**API, "api_error_status": 529}, "overloaded", OverloadedError),
    ({**API, "api_error_status": 404}, "model_not_found", ModelNotFoundError),
    ({"terminal_reason": "prompt_too_long", "api_error_status": 400}, "invalid_request", ContextLengthError),
    ({**API, "api_error_status": 500}, "server_error", ApiError),
    ({**API, "api_error": "connection_failed"}, "unknown", ApiError),
    ({"subtype": "error_max_structured_output_retries"}, None, ResultError),
]


@pytest.mark.parametrize(("fields", "fault", "error"), KINDS)
@pytest.mark.feature("WRAP-08", "ENV-05")
async def test_causes_of_a_failed_run_are_told_apart_by_their_types(agent, fields, fault, error):
    """The official library has one type for all of them."""
    agent.begin()
    if fault is not None:
        agent.say("API Error", error=fault)
    with pytest.raises(ResultError) as caught:
        await run(agent.result("", is_error=True, **fields).exit(1))

    assert type(caught.value) is error


async def test_news_of_tasks_that_the_failed_turn_ended_hides_its_error_not(agent):
    ended = {"subtype": "task_updated", "task_id": "t", "patch": {"status": "killed"}}
    agent.begin().result("", subtype="error_max_budget_usd", is_error=True)
    agent.raw(json.dumps({"type": "system", "session_id": "s", "uuid": "u", **ended}) + "\n").exit(1)

    seen = []
    with pytest.raises(BudgetExceededError):
        await run(agent, into=seen)

    assert kinds(seen)[-2:] == ["ResultMessage", "TaskUpdatedMessage"]


@pytest.mark.feature("WRAP-08", "RES-05")
async def test_an_error_result_is_given_and_then_raised(agent):
    agent.begin().result("", subtype="error_max_turns", is_error=True, errors=["too many turns"]).exit(1)

    seen = []
    with pytest.raises(ResultError, match="too many turns") as caught:
        await run(agent, into=seen)

    assert seen[-1].subtype == "error_max_turns"
    assert (caught.value.subtype, caught.value.exit_code, caught.value.errors) == (
        "error_max_turns",
        1,
        ["too many turns"],
    )


@pytest.mark.feature("WRAP-08")
async def test_an_agent_that_fails_is_told_with_exit_code_and_last_stderr_lines(agent):
    with pytest.raises(ProcessError, match="the real reason") as caught:
        await run(agent.begin().say("hi").stderr("the real reason\n").exit(7))

    assert type(caught.value) is ProcessError
    assert (caught.value.exit_code, caught.value.stderr) == (7, "the real reason")


async def test_a_killed_agent_is_told_by_its_signal(agent):
    with pytest.raises(ProcessError) as caught:
        await run(agent.begin().kill(signal.SIGKILL))

    assert caught.value.exit_code == -signal.SIGKILL


async def test_an_agent_that_ends_without_a_result_is_no_success(agent):
    seen = []
    with pytest.raises(IncompleteTurnError):
        await run(agent.begin().say("hi").exit(0), into=seen)

    assert texts(seen) == ["hi"]


@pytest.mark.parametrize("code", [0, 1])
async def test_an_agent_that_dies_before_the_handshake_is_told_at_once(agent, code):
    agent.wait("mute:initialize").stderr("cannot start\n").exit(code)

    with pytest.raises(CLIConnectionError, match="cannot start") as caught:
        await run(agent)

    assert isinstance(caught.value, AgentExitedError)
    assert caught.value.exit_code == code


async def test_a_result_in_the_place_of_the_handshakes_answer_is_raised(agent):
    failure = {"subtype": "error_during_execution", "is_error": True, "errors": ["no such session"]}
    agent.wait("mute:initialize").result("", **failure).exit(1)

    with pytest.raises(ResultError, match="no such session") as caught:
        await run(agent)

    assert caught.value.exit_code == 1


async def test_an_agent_that_dies_at_once_is_told(agent):
    with pytest.raises(AgentExitedError) as caught:
        await run(agent.exit(3))

    assert caught.value.exit_code == 3


@pytest.mark.feature("WRAP-04")
async def test_an_agent_that_does_not_answer_the_handshake_is_given_up_and_ended(agent):
    agent.wait("mute:initialize").wait("eof")

    with pytest.raises(TimeoutError, match=r"'initialize' within 0\.1 seconds"):
        await run(agent, initialize_timeout=0.1)

    for started in agent.runs:  # on a busy machine it may be ended before it has begun
        started.wait_gone()


async def test_an_agent_that_does_not_exit_after_its_result_keeps_nobody_waiting(agent):
    agent.begin().result("done").ignore_term().sleep(60)

    messages = await run(agent, close_timeout=0.1)

    assert messages[-1].result == "done"
    agent.runs[0].wait_gone()


@pytest.mark.feature("WRAP-07", "WRAP-08")
async def test_a_missing_executable_is_named(tmp_path):
    with pytest.raises(CLINotFoundError, match="nowhere"):
        await run_path(tmp_path / "nowhere")


@pytest.mark.feature("WRAP-07")
async def test_a_missing_folder_is_named(agent, tmp_path):
    with pytest.raises(AgentStartError, match="no-such-folder"):
        await run(agent.begin().result(), cwd=tmp_path / "no-such-folder")


async def run_path(path):
    with anyio.fail_after(40):
        return [m async for m in query(prompt="go", options=ClaudeAgentOptions(cli_path=path))]


# -- leaving early


@pytest.mark.feature("WRAP-09", "WRAP-10")
async def test_leaving_the_loop_ends_the_agent(agent):
    agent.begin().say("hi").wait("eof").sleep(60)
    with anyio.fail_after(40):
        messages = query(prompt="go", options=ClaudeAgentOptions(cli_path=agent.path))
        async for _ in messages:
            break
        await messages.aclose()

    agent.runs[0].wait_gone()


async def test_a_timeout_around_a_step_leaves_nothing_behind(agent):
    agent.begin().sleep(60)
    with anyio.fail_after(40):
        with anyio.CancelScope() as scope:
            async for _ in query(prompt="go", options=ClaudeAgentOptions(cli_path=agent.path)):
                scope.deadline = anyio.current_time() + 0.05

    assert scope.cancelled_caught
    agent.runs[0].wait_gone()


async def test_children_of_the_agent_end_with_it(agent):
    agent.begin().spawn(["sleep", "60"]).result()
    await run(agent)

    (child,) = agent.runs[0].children
    assert process_state(child) != "running"


# -- what an agent may write


@pytest.mark.feature("WRAP-12", "LOOP-17")
async def test_frames_of_unknown_types_are_given_whole(agent):
    messages = await run(agent.begin().emit({"type": "from_the_future", "value": 1}).result())

    assert isinstance(messages[1], UnknownMessage)
    assert (messages[1].type, messages[1].data["value"]) == ("from_the_future", 1)


@pytest.mark.feature("WRAP-12")
async def test_unknown_blocks_are_given_whole(agent):
    messages = await run(agent.begin().say([{"type": "hologram", "depth": 3}]).result())

    assert messages[1].content == [UnknownBlock({"type": "hologram", "depth": 3})]


@pytest.mark.feature("WRAP-12")
async def test_missing_fields_do_not_end_the_run(agent):
    agent.begin().emit({"type": "assistant", "message": {"content": "just text"}})
    agent.emit({"type": "result", "subtype": "success", "result": "fine"})
    messages = await run(agent)

    assert messages[1].content == [TextBlock("just text")]
    assert (messages[2].result, messages[2].is_error, messages[2].num_turns) == ("fine", False, 0)


@pytest.mark.parametrize(
    "junk",
    [
        "warning: no newline ",
        "not json\n",
        '{"type": broken\n',
        "\n\r\n  \n",
        "[1, 2]\n",
        "null\n",
        '"text"\n',
    ],
)
@pytest.mark.feature("WRAP-09")
async def test_junk_between_frames_costs_no_message(agent, junk, caplog):
    with caplog.at_level(logging.CRITICAL):
        messages = await run(agent.begin().raw(junk).say("hi").raw(junk).result("done"))

    assert (texts(messages), messages[-1].result) == (["hi"], "done")


async def test_a_bad_byte_costs_one_character(agent):
    agent.begin().raw(
        b'{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"a\xffb"}]}}\n'
    )
    messages = await run(agent.result())

    assert texts(messages) == ["a�b"]


async def test_separators_of_unicode_are_text(agent):
    text = "one\u2028two\u2029three\u0085four\u000bfive"

    assert texts(await run(agent.begin().say(text).result())) == [text]


async def test_half_of_a_surrogate_pair_becomes_valid_text(agent):
    agent.begin().raw(
        '{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"x\\ud83dy"}]}}\n'
    )

    (text,) = texts(await run(agent.result()))
    assert text.encode().decode() == "x�y"


@pytest.mark.feature("WRAP-09")
async def test_a_frame_may_come_in_any_pieces(agent):
    messages = await run(agent.begin().trickle(delta("word"), size=3).result())

    assert isinstance(messages[1], StreamEvent)


@pytest.mark.feature("WRAP-09")
async def test_a_frame_over_the_limit_costs_that_frame(agent, caplog):
    agent.begin().long_line(200_000).say("after").result("done")
    messages = await run(agent, max_buffer_size=100_000)

    assert (texts(messages), messages[-1].result) == (["after"], "done")
    assert "200," in caplog.text, "the size of the lost frame is logged"


async def test_a_hundred_megabytes_in_one_line_do_not_end_the_session(agent, caplog):
    agent.begin().long_line(100_000_000).result("done")
    messages = await run(agent)

    assert messages[-1].result == "done"
    assert "over the limit" in caplog.text


async def test_a_last_line_without_its_newline_counts(agent):
    agent.begin().raw(
        '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,'
    )
    messages = await run(agent.raw('"num_turns":1,"session_id":"s","result":"whole"}').exit(0))

    assert messages[-1].result == "whole"


async def test_any_number_of_frames_may_come_before_the_handshake_is_answered(agent):
    agent.emit({"type": "system", "subtype": "early"}, times=500).begin().result("done")
    messages = await run(agent)

    assert len([m for m in messages if isinstance(m, SystemMessage) and m.subtype == "early"]) == 500


# -- what an agent may ask


@pytest.mark.feature("WRAP-02")
async def test_a_question_after_the_prompt_is_answered_though_the_prompt_is_text(agent):
    asked = []

    async def can_use_tool(name, tool_input, context):
        asked.append((name, tool_input, context.tool_use_id, context.agent_id))
        return PermissionResultAllow()

    agent.begin().ask(
        "q1", "can_use_tool", tool_name="Bash", input={"command": "ls"}, tool_use_id="t1", agent_id="a1"
    )
    await run(agent.wait("control_response").result(), can_use_tool=can_use_tool)

    assert asked == [("Bash", {"command": "ls"}, "t1", "a1")]
    (answer,) = agent.runs[0].frames_of("control_response")
    assert answer["response"]["response"] == {"behavior": "allow", "updatedInput": {"command": "ls"}}


@pytest.mark.feature("WRAP-11")
async def test_a_question_long_after_the_result_is_answered_while_the_agent_still_works(agent):
    async def hook(_input, _tool_use_id, _context):
        return {"continue_": True}

    agent.begin().emit(
        {"type": "system", "subtype": "session_state_changed", "state": "running", "sdk_host_only": True}
    )
    agent.result().ask("h1", "hook_callback", callback_id="hook_0", input={}).wait("control_response")
    agent.emit({"type": "system", "subtype": "session_state_changed", "state": "idle", "sdk_host_only": True})
    messages = await run(agent.wait("eof"), hooks={"Stop": [HookMatcher(hooks=[hook])]})

    (answer,) = agent.runs[0].frames_of("control_response")
    assert answer["response"]["response"] == {"continue": True}
    assert kinds(messages) == ["SystemMessage", "ResultMessage"]


@pytest.mark.feature("WRAP-11")
async def test_a_subagent_in_the_background_may_ask_in_its_late_turn(agent):
    """The official client has closed the input by then when no state frames come, and the question fails."""
    asked = []

    async def can_use_tool(name, _input, context):
        asked.append((name, context.agent_id))
        return PermissionResultAllow()

    task = {"type": "system", "task_id": "t1", "description": "look around"}
    agent.begin().emit({**task, "subtype": "task_started", "task_type": "local_agent"}).result("first")
    agent.ask("q1", "can_use_tool", tool_name="Bash", input={}, agent_id="a1").wait("control_response")
    agent.emit({**task, "subtype": "task_notification", "status": "completed"})
    agent.init().result("second", origin={"kind": "task-notification"}).wait("eof")
    messages = await run(agent, can_use_tool=can_use_tool)

    assert asked == [("Bash", "a1")]
    assert [m.result for m in messages if isinstance(m, ResultMessage)] == ["first", "second"]


async def test_callbacks_run_in_the_context_of_the_query(agent):
    speaker = contextvars.ContextVar("speaker")
    speaker.set("the caller")
    seen = []

    async def can_use_tool(_name, _input, _context):
        seen.append(speaker.get())
        return PermissionResultAllow()

    agent.begin().ask("q1", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result()
    await run(agent, can_use_tool=can_use_tool)

    assert seen == ["the caller"]


@pytest.mark.parametrize("outcome", ["raises", "returns rubbish"])
async def test_a_permission_callback_that_fails_is_answered_as_an_error(agent, outcome):
    async def can_use_tool(_name, _input, _context):
        if outcome == "raises":
            raise RuntimeError("cannot decide")
        return {"behavior": "allow"}

    agent.begin().ask("q1", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result(
        "done"
    )
    messages = await run(agent, can_use_tool=can_use_tool)

    (answer,) = agent.runs[0].frames_of("control_response")
    assert answer["response"]["subtype"] == "error"
    assert ("cannot decide" if outcome == "raises" else "must return PermissionResultAllow") in answer[
        "response"
    ]["error"]
    assert messages[-1].result == "done"


@pytest.mark.feature("WRAP-06")
async def test_a_request_that_the_agent_withdraws_is_not_answered(agent):
    cancelled = anyio.Event()

    async def can_use_tool(_name, _input, _context):
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    agent.begin().ask("q1", "can_use_tool", tool_name="Bash", input={})
    agent.emit({"type": "control_cancel_request", "request_id": "q1"}).result("done")
    messages = await run(agent, can_use_tool=can_use_tool)

    assert cancelled.is_set()
    assert messages[-1].result == "done"
    assert agent.runs[0].frames_of("control_response") == []


@pytest.mark.feature("WRAP-06")
async def test_unknown_requests_are_refused_and_never_left_open(agent):
    await run(
        agent.begin().ask("q1", "from_the_future").wait("control_response").result(), can_use_tool=allow
    )

    (answer,) = agent.runs[0].frames_of("control_response")
    assert answer["response"] == {
        "subtype": "error",
        "request_id": "q1",
        "error": "Unsupported control request subtype: from_the_future",
    }


async def allow(_name, _input, _context):
    return PermissionResultAllow()


# -- many at once


async def test_many_runs_at_once_and_in_a_row_leave_no_descriptors_behind(agent):
    agent.begin().say("hi").result("done")
    for _ in range(14):
        agent.next_start().begin().say("hi").result("done")
    await run(agent)
    before = descriptors()

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(run, agent)
    for _ in range(4):
        await run(agent)

    assert descriptors() == before
    assert not zombies()


def descriptors():
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def zombies():
    """Ended children that nobody has waited for; the server that forks for xdist has none of ours."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in children if process_state(int(pid)) == "zombie"]
