"""Leaving a run while the agent works: it is interrupted, so that its session holds what was done, and ends."""

import contextlib

import anyio
import pytest

from claude_wrapper import AssistantMessage, ClaudeAgentOptions, ClaudeSDKClient, query

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]

INTERRUPTED = {"subtype": "error_during_execution", "is_error": True}


def options_of(agent, **options):
    return ClaudeAgentOptions(cli_path=agent.path, **options)


def patient(agent):
    """An agent that works until it is interrupted, and leaves a mark when its input ends after the result."""
    return agent.begin().say("hi").wait("interrupt").result("", **INTERRUPTED).wait("eof").stderr("saved\n")


def was_interrupted(agent):
    (interrupt,) = agent.runs[0].frames_of("interrupt")
    return interrupt["request"] == {"subtype": "interrupt", "cancel_queued": True}


async def read(agent, lines, **options):
    async for _ in query(prompt="go", options=options_of(agent, stderr=lines.append, **options)):
        pass


async def read_until_time_is_up(agent, lines, **options):
    """It is up as soon as the agent has begun."""
    messages = query(prompt="go", options=options_of(agent, stderr=lines.append, **options))
    with anyio.CancelScope() as scope:
        async for _ in messages:
            scope.deadline = anyio.current_time() + 0.05
    return scope


async def test_cancelling_a_query_interrupts_the_agent_and_lets_it_end_its_turn(agent):
    lines = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read, patient(agent), lines)
        await (await agent.run()).frame("user")
        tasks.cancel_scope.cancel()

    assert was_interrupted(agent)
    assert lines == ["saved"]
    agent.runs[0].wait_gone()


async def test_a_timeout_around_a_query_does_likewise(agent):
    lines = []
    scope = await read_until_time_is_up(patient(agent), lines)

    assert scope.cancelled_caught
    assert was_interrupted(agent)
    assert lines == ["saved"]


async def test_leaving_the_loop_early_does_likewise(agent):
    lines = []
    messages = query(prompt="go", options=options_of(patient(agent), stderr=lines.append))
    async for message in messages:
        if isinstance(message, AssistantMessage):
            break
    await messages.aclose()

    assert was_interrupted(agent)
    assert lines == ["saved"]


async def test_an_error_in_the_loop_does_likewise(agent):
    with pytest.raises(LookupError):
        await fail_at_the_first_message(agent)

    assert was_interrupted(agent)
    agent.runs[0].wait_gone()


async def fail_at_the_first_message(agent):
    async with contextlib.aclosing(query(prompt="go", options=options_of(patient(agent)))) as messages:
        async for _ in messages:
            raise LookupError


async def test_an_agent_that_does_not_listen_is_ended_in_bounded_time(agent):
    agent.begin().say("hi").ignore_term().sleep(600)
    assert (await read_until_time_is_up(agent, [], close_timeout=0.2)).cancelled_caught
    agent.runs[0].wait_gone()


async def test_an_agent_that_has_answered_is_not_interrupted(agent):
    agent.begin().result("done").wait("eof")
    messages = query(prompt="go", options=options_of(agent))
    async for message in messages:
        if message.__class__.__name__ == "ResultMessage":
            break
    await messages.aclose()

    assert agent.runs[0].frames_of("interrupt") == []


async def test_a_cancelled_start_leaves_nothing_behind(agent):
    agent.wait("mute:initialize").ignore_term().sleep(60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: read(agent, [], close_timeout=0.2))
        await (await agent.run()).frame("initialize")
        tasks.cancel_scope.cancel()

    agent.runs[0].wait_gone()


async def test_prompts_that_are_still_to_come_are_closed(agent):
    closed = []

    async def prompts():
        try:
            yield {"type": "user", "message": {"role": "user", "content": "one"}}
            await anyio.sleep_forever()
        finally:
            closed.append(True)

    messages = query(prompt=prompts(), options=options_of(patient(agent)))
    assert await anext(messages)
    await messages.aclose()

    assert closed == [True]


async def test_a_client_that_is_closed_with_much_unread_closes_at_once(agent):
    from claude_wrapper.testing import floods

    agent.begin().flood(floods.big_frames(120)).wait("eof")
    async with ClaudeSDKClient(options_of(agent)) as client:
        await client.query("go")
        await anyio.wait_all_tasks_blocked()

    agent.runs[0].wait_gone()
