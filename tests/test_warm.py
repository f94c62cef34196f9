"""Agents that are started ahead of their prompts."""

import gc

import anyio
import pytest

from claude_wrapper import (
    AgentExitedError,
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    ClientUseError,
    IncompleteTurnError,
    MessageParseError,
    ProcessError,
    ResultMessage,
    startup,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


def options_of(agent, **options):
    return ClaudeAgentOptions(cli_path=agent.path, **options)


async def test_it_has_shaken_hands_before_there_is_a_prompt(agent):
    agent.answer("initialize", {"commands": []}).begin().say("hi").result("done")
    async with await startup(options_of(agent)) as warm:
        assert (warm.alive, warm.pid, warm.server_info) == (True, agent.runs[0].pid, {"commands": []})
        assert agent.runs[0].frames_of("user") == []

        messages = [m async for m in warm.query("go")]

    assert messages[-1].result == "done"
    assert len(agent.runs) == 1
    agent.runs[0].wait_gone()


async def test_prompts_may_come_from_an_iterable(agent):
    async def prompts():
        yield {"type": "user", "message": {"role": "user", "content": "go"}}

    async with await startup(options_of(agent.begin().result("done"))) as warm:
        messages = [m async for m in warm.query(prompts())]

    assert messages[-1].result == "done"


async def test_a_client_can_have_it(agent):
    agent.begin().result("first").wait("user").init().result("second").wait("eof")
    warm = await startup(options_of(agent, model="m"))
    async with ClaudeSDKClient.from_warm(warm) as client:
        assert client.options.model == "m"
        for expected in ("first", "second"):
            await client.query("go")
            messages = [m async for m in client.receive_response()]
            assert messages[-1].result == expected

    assert not warm.alive
    assert len(agent.runs) == 1
    agent.runs[0].wait_gone()


async def test_it_has_one_conversation(agent):
    async with await startup(options_of(agent.begin().result("done"))) as warm:
        assert [m async for m in warm.query("go")]
        with pytest.raises(ClientUseError, match="in use, or was"):
            await anext(warm.query("again"))
        with pytest.raises(ClientUseError, match="in use, or was"):
            ClaudeSDKClient.from_warm(warm)


async def test_one_that_is_not_used_ends_with_its_block(agent):
    async with await startup(options_of(agent.wait("init").wait("eof"))) as warm:
        pass

    assert not warm.alive
    agent.runs[0].wait_gone()
    await warm.close()


async def test_a_prompt_of_a_wrong_type_does_not_cost_the_agent(agent):
    async with await startup(options_of(agent.begin().result("done"))) as warm:
        with pytest.raises(MessageParseError, match="async iterable of dicts, got list; make it an async"):
            await anext(warm.query(["go"]))
        assert [m async for m in warm.query("go")][-1].result == "done"


async def test_one_that_has_died_while_it_waited_says_so(agent):
    agent.wait("init").stall("die").stderr("out of memory\n").exit(9)
    async with await startup(options_of(agent)) as warm:
        agent.gate("die").release()
        await agent.runs[0].gone()
        with pytest.raises(ProcessError, match="out of memory") as caught:
            await anext(warm.query("go"))

    assert caught.value.exit_code == 9


async def test_one_that_does_not_come_up_is_told_at_once(agent):
    with pytest.raises(AgentExitedError, match="cannot start"):
        await startup(options_of(agent.wait("mute:initialize").stderr("cannot start\n").exit(1)))


async def kill_at_the_first_word(warm):
    async for message in warm.query("go"):
        if isinstance(message, AssistantMessage):
            warm.kill()


async def test_it_is_a_handle_by_which_a_run_can_be_killed(agent):
    async with await startup(options_of(agent.begin().say("hi").wait("eof").sleep(60))) as warm:
        with pytest.raises(ProcessError) as caught:
            await kill_at_the_first_word(warm)

    assert caught.value.exit_code == -9


async def test_closing_it_elsewhere_is_no_success_for_who_reads(agent):
    warm = await startup(options_of(agent.begin().say("hi").wait("eof")))
    outcome = []

    async def read():
        try:
            async for message in warm.query("go"):
                outcome.append(type(message).__name__)  # noqa: PERF401  # what was read so far counts
        except IncompleteTurnError:
            outcome.append("closed")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await agent.runs[0].frame("user")
        await warm.close()

    assert outcome[-1] == "closed"


async def test_one_that_was_forgotten_is_ended_and_complained_about(agent):
    warm = await startup(options_of(agent.wait("init").wait("eof")))
    with pytest.warns(ResourceWarning, match="was not closed"):  # noqa: PT031  # in a cycle it would wait for gc
        del warm
        gc.collect()
    await agent.runs[0].gone()


async def test_the_result_of_a_warm_run_is_an_error_like_that_of_a_cold_one(agent):
    agent.begin().result("", subtype="error_max_turns", is_error=True, errors=["too many turns"]).exit(1)
    seen = []
    async with await startup(options_of(agent)) as warm:
        with pytest.raises(ProcessError, match="too many turns"):
            await collect(warm.query("go"), seen)

    assert isinstance(seen[-1], ResultMessage)


async def collect(messages, into):
    async for message in messages:
        into.append(message)  # what came before the error is wanted


async def test_a_closed_one_cannot_be_used(agent):
    warm = await startup(options_of(agent.wait("init").wait("eof")))
    await warm.close()
    with pytest.raises(CLIConnectionError):
        await anext(warm.query("go"))
