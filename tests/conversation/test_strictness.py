"""Failures of the model's API that are raised, and agents that are stopped because their calls keep failing."""

import anyio
import pytest

from claude_wrapper import (
    ApiError,
    AssistantMessage,
    AuthenticationError,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    NoProgressError,
    OverloadedError,
    RateLimitError,
    ResultMessage,
    query,
    startup,
)
from claude_wrapper.testing import ScriptedModel, call, say, stall
from claude_wrapper.testing.agent_frames import tool_call, tool_result

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


def options(agent, **more):
    return ClaudeAgentOptions(cli_path=agent.path, **more)


async def gather(messages, into):
    async for message in messages:
        into.append(message)


def refused(agent, status=401, fault="authentication_failed", **fields):
    """A turn that the API has refused, as agents report it."""
    text = f"API Error: {status}"
    failure = {"is_error": True, "api_error_status": status, "terminal_reason": "api_error", **fields}
    return agent.say(text, error=fault).result(text, **failure)


STATUSES = [
    (401, "authentication_failed", AuthenticationError),
    (429, "rate_limit", RateLimitError),
    (529, "overloaded", OverloadedError),
    (500, "server_error", ApiError),
]


@pytest.mark.parametrize(("status", "fault", "error"), STATUSES)
async def test_a_client_is_told_of_an_api_failure_behind_the_result(agent, status, fault, error):
    refused(agent.begin(), status, fault).wait("user").say("Well.").result("better").wait("eof")

    async with ClaudeSDKClient(options(agent, raise_on_api_error=True)) as client:
        await client.query("go")
        seen = []
        with pytest.raises(error) as caught:
            await gather(client.receive_response(), seen)
        await client.query("again")
        again = [m async for m in client.receive_response()]

    assert [type(message) for message in seen[-2:]] == [AssistantMessage, ResultMessage]
    assert type(caught.value) is error
    assert caught.value.api_error_status == status
    assert f"API Error: {status}" in str(caught.value)
    assert again[-1].result == "better"


async def test_without_the_option_the_result_tells_it(agent):
    refused(agent.begin()).wait("eof")

    async with ClaudeSDKClient(options(agent)) as client:
        await client.query("go")
        messages = [m async for m in client.receive_response()]

    assert messages[-1].is_error
    assert messages[-1].api_error_status == 401
    assert messages[-2].error == "authentication_failed"


async def test_it_is_raised_to_who_reads_all_messages_and_the_reading_may_go_on(agent):
    refused(agent.begin()).wait("user").say("Well.").result("better")

    async with ClaudeSDKClient(options(agent, raise_on_api_error=True)) as client:
        await client.query("go")
        messages = client.receive_messages()
        with pytest.raises(AuthenticationError):
            await gather(messages, [])
        await client.query("again")
        rest = [m async for m in messages]

    assert rest[-1].result == "better"


async def test_a_failure_whose_reader_left_at_the_result_is_not_raised_in_the_next_turn(agent):
    refused(agent.begin()).wait("user").say("Well.").result("better").wait("eof")

    async with ClaudeSDKClient(options(agent, raise_on_api_error=True)) as client:
        await client.query("go")
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                break
        await client.query("again")
        messages = [m async for m in client.receive_response()]

    assert messages[-1].result == "better"


async def test_failures_of_turns_that_are_passed_over_are_passed_over_too(agent):
    agent.begin()
    refused(agent, origin={"kind": "task-notification"}).say("Mine.").result("mine").wait("eof")

    async with ClaudeSDKClient(options(agent, raise_on_api_error=True)) as client:
        await client.query("go")
        messages = [m async for m in client.receive_response()]

    assert messages[-1].result == "mine"


async def test_of_several_prompts_the_one_that_fails_ends_the_run(agent):
    refused(agent.begin()).wait("user").say("Well.").result("better").wait("eof")
    answered = anyio.Event()

    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": "one"}}
        await answered.wait()
        yield {"type": "user", "message": {"role": "user", "content": "two"}}

    seen = []
    with pytest.raises(AuthenticationError):
        await gather(query(prompt=prompts(), options=options(agent, raise_on_api_error=True)), seen)

    assert isinstance(seen[-1], ResultMessage)
    await agent.runs[0].gone()


async def test_other_errors_of_a_turn_are_no_api_failures(agent):
    agent.begin().result("", subtype="error_max_turns", is_error=True, terminal_reason="max_turns").wait(
        "eof"
    )

    async with ClaudeSDKClient(options(agent, raise_on_api_error=True)) as client:
        await client.query("go")
        messages = [m async for m in client.receive_response()]

    assert messages[-1].subtype == "error_max_turns"


# -- calls that keep failing


def calls(agent, *outcomes, parent=None):
    """Calls of a tool; True for each that fails."""
    for number, fails in enumerate(outcomes):
        name = f"toolu_{parent}_{number}"
        agent.emit(
            tool_call("Bash", {"command": "x"}, tool_use_id=name, parent_tool_use_id=parent),
            tool_result("out", tool_use_id=name, is_error=fails or None, parent_tool_use_id=parent),
        )
    return agent


async def test_an_agent_whose_calls_keep_failing_is_interrupted_and_stopped(agent):
    calls(agent.begin(), True, True, True).wait("interrupt").result("stopped", is_error=True).wait("eof")

    seen = []
    with pytest.raises(NoProgressError, match="3 tool calls in a row have failed") as caught:
        await gather(query(prompt="go", options=options(agent, max_consecutive_tool_errors=3)), seen)

    assert caught.value.session_id == seen[0].data["session_id"]
    assert len(agent.runs[0].frames_of("interrupt")) == 1
    assert isinstance(seen[-1], ResultMessage)
    await agent.runs[0].gone()


async def test_a_call_that_works_begins_the_count_anew(agent):
    calls(agent.begin(), True, True, False, True, True).result()

    messages = [m async for m in query(prompt="go", options=options(agent, max_consecutive_tool_errors=3))]

    assert messages[-1].result == "done"


async def test_subagents_are_counted_apart(agent):
    agent.begin()
    for round_ in range(3):
        calls(agent, True, parent=None)
        calls(agent, round_ > 0, parent="toolu_task")
    calls(agent, False).result()

    messages = [m async for m in query(prompt="go", options=options(agent, max_consecutive_tool_errors=4))]

    assert messages[-1].result == "done"


async def test_each_turn_begins_the_count_anew(agent):
    calls(agent.begin(), True, True).result()
    calls(agent.wait("user"), True, True).result().wait("eof")

    async with ClaudeSDKClient(options(agent, max_consecutive_tool_errors=3)) as client:
        for _ in range(2):
            await client.query("go")
            messages = [m async for m in client.receive_response()]

    assert messages[-1].result == "done"


async def test_a_client_is_told_by_every_later_call(agent):
    calls(agent.begin(), True, True).wait("interrupt").result(is_error=True).wait("eof")

    async with ClaudeSDKClient(options(agent, max_consecutive_tool_errors=2)) as client:
        await client.query("go")
        with pytest.raises(NoProgressError):
            [m async for m in client.receive_messages()]
        with pytest.raises(NoProgressError):
            await client.query("again")


async def test_it_is_raised_behind_the_result_with_which_the_turn_ends(agent):
    calls(agent.begin(), True, True).wait("interrupt").result(is_error=True).wait("eof")

    seen = []
    async with ClaudeSDKClient(options(agent, max_consecutive_tool_errors=2)) as client:
        await client.query("go")
        with pytest.raises(NoProgressError):
            await gather(client.receive_response(), seen)

    assert isinstance(seen[-1], ResultMessage)


async def test_a_warm_agent_is_held_to_it_too(agent):
    calls(agent.begin(), True, True).wait("interrupt").result(is_error=True).wait("eof")

    async with await startup(options(agent, max_consecutive_tool_errors=2)) as warm:
        with pytest.raises(NoProgressError):
            [m async for m in warm.query("go")]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_our_agent_is_stopped_when_the_model_repeats_a_call_that_fails(tmp_path):
    again = [call("Read", file_path=str(tmp_path / "absent"))] * 3
    with ScriptedModel([*again, stall("for ever") + say("never")]) as model:
        settings = ClaudeAgentOptions(
            env={**model.environment(), "HOME": str(tmp_path)},
            cwd=tmp_path,
            setting_sources=[],
            max_consecutive_tool_errors=3,
        )
        with pytest.raises(NoProgressError):
            [m async for m in query(prompt="go", options=settings)]

    assert 3 <= len(model.requests) <= 4
