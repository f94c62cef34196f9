"""The options `timeout` and `idle_timeout`: the agent is interrupted, stopped, and the user is told."""

import anyio
import pytest

from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    IdleTimeoutError,
    PermissionResultAllow,
    ResultMessage,
    RunTimeoutError,
    query,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]

INTERRUPTED = {"subtype": "error_during_execution", "is_error": True, "errors": ["interrupted"]}


def options_of(agent, **options):
    return ClaudeAgentOptions(cli_path=agent.path, **options)


async def run(agent, into, **options):
    async for message in query(prompt="go", options=options_of(agent, **options)):
        into.append(message)


@pytest.mark.parametrize(
    ("limit", "error"), [("timeout", RunTimeoutError), ("idle_timeout", IdleTimeoutError)]
)
async def test_an_agent_that_takes_too_long_is_interrupted_and_stopped(agent, limit, error):
    agent.begin(session_id="s-1").say("thinking").wait("interrupt").result("", **INTERRUPTED).wait("eof")
    seen = []
    with pytest.raises(error) as caught:
        await run(agent, seen, **{limit: 1.5})

    assert [type(m).__name__ for m in seen] == ["SystemMessage", "AssistantMessage", "ResultMessage"]
    assert caught.value.session_id == "s-1"
    assert isinstance(caught.value, TimeoutError)
    (interrupt,) = agent.runs[0].frames_of("interrupt")
    assert interrupt["request"] == {"subtype": "interrupt", "cancel_queued": True}
    agent.runs[0].wait_gone()


async def test_an_agent_that_ignores_the_interrupt_is_stopped_all_the_same(agent):
    agent.begin().say("hi").ignore_term().sleep(600)
    with pytest.raises(RunTimeoutError, match=r"longer than 0\.2 seconds"):
        await run(agent, [], timeout=0.2, close_timeout=0.2)

    agent.runs[0].wait_gone()


async def test_an_agent_that_is_quick_enough_knows_nothing_of_it(agent):
    seen = []
    await run(agent.begin().say("hi").result("done"), seen, timeout=20, idle_timeout=20)

    assert seen[-1].result == "done"
    assert agent.runs[0].frames_of("interrupt") == []


async def test_words_of_the_agent_put_the_idle_timeout_off(agent):
    agent.begin()
    for _ in range(5):
        agent.sleep(0.5).say("still here")
    seen = []
    await run(agent.result("done"), seen, idle_timeout=2)

    assert seen[-1].result == "done"


async def test_the_agent_is_not_idle_while_it_waits_for_an_answer_of_ours(agent):
    async def can_use_tool(_name, _input, _context):
        await anyio.sleep(2)
        return PermissionResultAllow()

    agent.begin().ask("q", "can_use_tool", tool_name="Bash", input={}).wait("control_response").result("done")
    seen = []
    await run(agent, seen, idle_timeout=1.5, can_use_tool=can_use_tool)

    assert seen[-1].result == "done"


async def test_the_agent_is_not_idle_while_its_prompts_are_still_to_come(agent):
    async def prompts():
        for text in ("one", "two"):
            await anyio.sleep(0 if text == "one" else 2)
            yield {"type": "user", "message": {"role": "user", "content": text}}

    agent.wait("init").wait("user").init().result("first").wait("user").init().result("second")
    options = options_of(agent, idle_timeout=1.5)
    results = [
        m.result async for m in query(prompt=prompts(), options=options) if isinstance(m, ResultMessage)
    ]

    assert results == ["first", "second"]


async def test_an_agent_that_hangs_behind_its_result_is_idle_too(agent):
    """Its state says that it goes on, but nothing comes: without the limit that is ten minutes."""

    async def hook(_input, _tool_use_id, _context):
        return {}

    running = {
        "type": "system",
        "subtype": "session_state_changed",
        "state": "running",
        "sdk_host_only": True,
    }
    agent.begin().emit(running).result("done").wait("eof")
    with pytest.raises(IdleTimeoutError):
        await run(agent, [], idle_timeout=0.2, hooks={"Stop": [HookMatcher(hooks=[hook])]})


async def gather(messages, into):
    async for message in messages:
        into.append(message)


async def turn(client):
    return [m async for m in client.receive_response()]


async def test_a_client_has_the_time_for_each_turn_anew(agent):
    agent.wait("init")
    for _ in range(3):
        agent.wait("user").init().sleep(1).result("done")

    async with ClaudeSDKClient(options_of(agent.wait("eof"), timeout=2.5)) as client:
        for _ in range(3):
            await client.query("go")
            assert (await turn(client))[-1].result == "done"


@pytest.mark.parametrize("limit", ["timeout", "idle_timeout"])
async def test_a_client_that_is_asked_nothing_may_wait_for_ever(agent, limit):
    agent.begin().result("first").wait("user").init().result("second").wait("eof")
    async with ClaudeSDKClient(options_of(agent, **{limit: 1.5})) as client:
        for expected in ("first", "second"):
            await anyio.sleep(0 if expected == "first" else 2)
            await client.query("go")
            assert (await turn(client))[-1].result == expected


@pytest.mark.parametrize(
    ("limit", "error"), [("timeout", RunTimeoutError), ("idle_timeout", IdleTimeoutError)]
)
async def test_a_client_is_told_by_every_later_call(agent, limit, error):
    agent.begin().result("first").wait("user").init().say("hi").wait("interrupt")
    agent.result("", **INTERRUPTED).wait("eof")
    async with ClaudeSDKClient(options_of(agent, **{limit: 1.5})) as client:
        await client.query("go")
        assert (await turn(client))[-1].result == "first"
        await client.query("go")
        response = client.receive_response()
        while not isinstance(message := await anext(response), ResultMessage):
            pass
        assert message.is_error
        # Behind the result of the turn, so that nobody takes it for an ordinary one.
        with pytest.raises(error) as first:
            await anext(response)
        assert not client.alive
        for call in (client.query("again"), client.interrupt(), turn(client)):
            with pytest.raises(error) as later:
                await call
            assert later.value is first.value


async def test_what_was_said_before_the_time_was_up_can_be_read(agent):
    agent.begin().say("one").say("two").wait("interrupt").result("", **INTERRUPTED).wait("eof")
    async with ClaudeSDKClient(options_of(agent, timeout=1.5)) as client:
        await client.query("go")
        messages = []
        with pytest.raises(RunTimeoutError):
            await gather(client.receive_response(), messages)

    assert [b.text for m in messages if isinstance(m, AssistantMessage) for b in m.content] == ["one", "two"]
    assert messages[-1].is_error
