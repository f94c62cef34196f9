"""A pool of agents that are started ahead."""

import anyio
import pytest

from claude_wrapper import (
    AgentExitedError,
    AgentPool,
    ClaudeAgentOptions,
    ClientUseError,
    CLINotFoundError,
    OptionsError,
    ResultMessage,
)
from claude_wrapper.testing.polling import poll_async

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


def pool_of(agent, size=1, **settings):
    return AgentPool(ClaudeAgentOptions(cli_path=agent.path), size, **settings)


async def result_of(messages):
    return [m async for m in messages if isinstance(m, ResultMessage)][-1].result


async def until(condition):
    await poll_async(lambda: condition() or None, "the pool's state", 10)


async def test_agents_are_ready_before_they_are_needed_and_made_ready_again(agent):
    async with pool_of(agent.begin().result("done"), 2) as pool:
        await until(lambda: pool.ready == 2)
        first = {run.pid for run in agent.runs}
        assert await result_of(pool.query("go")) == "done"
        assert [run for run in agent.runs if run.pid in first and run.frames_of("user")]
        await until(lambda: pool.ready == 2)
        assert len(agent.runs) == 3

    assert (pool.ready, pool.in_use) == (0, 0)
    for run in agent.runs:
        run.wait_gone()


async def test_each_conversation_has_an_agent_of_its_own(agent):
    agent.begin().result("done").wait("eof")
    async with pool_of(agent) as pool:
        for _ in range(3):
            async with pool.client() as client:
                await client.query("go")
                assert await result_of(client.receive_response()) == "done"

    assert [len(run.frames_of("user")) for run in agent.runs if run.frames_of("user")] == [1, 1, 1]


async def test_no_more_agents_run_than_the_limit_allows_and_who_waits_gets_one(agent):
    agent.begin().stall("go").result("done")
    results = []

    async def ask(pool):
        results.append(await result_of(pool.query("go")))

    async with pool_of(agent, 2, limit=3) as pool, anyio.create_task_group() as tasks:
        for _ in range(7):
            tasks.start_soon(ask, pool)
        await until(lambda: pool.in_use == 3)
        await anyio.wait_all_tasks_blocked()
        assert (pool.in_use, pool.ready, len(agent.runs)) == (3, 0, 3)
        agent.gate("go").release()

    assert results == ["done"] * 7


async def test_a_conversation_that_is_left_early_gives_its_place_back(agent):
    agent.begin().say("hi").wait("interrupt").result("", subtype="error_during_execution", is_error=True)
    async with pool_of(agent, limit=1) as pool:
        for _ in range(3):
            messages = pool.query("go")
            assert await anext(messages)
            await messages.aclose()
            assert pool.in_use == 0


async def test_who_gives_up_waiting_takes_no_place(agent):
    agent.begin().stall("go").result("done")
    async with pool_of(agent, limit=1) as pool, anyio.create_task_group() as tasks:
        tasks.start_soon(result_of, pool.query("go"))
        await until(lambda: pool.in_use == 1)
        with anyio.move_on_after(0.05) as scope:
            await anext(pool.query("go"))
        assert scope.cancelled_caught
        agent.gate("go").release()
        await until(lambda: pool.in_use == 0)
        assert await result_of(pool.query("go")) == "done"


async def test_agents_that_died_while_they_waited_are_not_given_out(agent):
    agent.wait("init").exit(3).next_start().begin().result("done")
    async with pool_of(agent) as pool:
        await until(lambda: pool.ready == 1)
        await agent.runs[0].gone()
        assert await result_of(pool.query("go")) == "done"


async def test_idle_agents_are_ended_and_come_back_with_the_next_conversation(agent):
    agent.begin().result("done")
    async with pool_of(agent, 2, idle_timeout=0.3) as pool:
        await until(lambda: pool.ready == 2)
        await until(lambda: pool.ready == 0)
        for run in agent.runs:
            await run.gone()
        assert await result_of(pool.query("go")) == "done"
        await until(lambda: pool.ready == 2)


async def test_why_no_agent_starts_is_told_to_who_asks(agent, caplog):
    agent.wait("mute:initialize").stderr("cannot start\n").exit(1)
    async with pool_of(agent) as pool:
        for _ in range(2):
            with pytest.raises(AgentExitedError, match="cannot start"):
                await anext(pool.query("go"))
        assert pool.in_use == 0

    assert "no agent could be made ready" in caplog.text


async def test_everybody_who_waits_is_told_that_no_agent_starts(tmp_path):
    caught = []

    async def ask(pool):
        with pytest.raises(CLINotFoundError) as error:
            await anext(pool.query("go"))
        caught.append(error)

    options = ClaudeAgentOptions(cli_path=tmp_path / "nowhere")
    async with AgentPool(options, limit=2) as pool, anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(ask, pool)

    assert len(caught) == 4


async def test_leaving_the_pool_ends_what_is_in_use(agent):
    agent.begin().say("hi").wait("eof").sleep(60)
    async with AgentPool(ClaudeAgentOptions(cli_path=agent.path, close_timeout=0.1)) as pool:
        messages = pool.query("go")
        assert await anext(messages)

    agent.runs[0].wait_gone()
    await messages.aclose()


async def test_a_closed_pool_gives_no_agents(agent):
    pool = pool_of(agent.begin().result("done"))
    with pytest.raises(ClientUseError, match="not open"):
        await anext(pool.query("go"))
    async with pool:
        with pytest.raises(ClientUseError, match="open already"):
            await pool.__aenter__()
    with pytest.raises(ClientUseError, match="not open"):
        async with pool.client():
            pass


async def test_who_waits_when_the_pool_closes_is_told(agent):
    agent.begin().stall("never").result("done")
    outcome = []

    async def ask(pool):
        with pytest.raises(ClientUseError, match="was closed"):
            await anext(pool.query("go"))
        outcome.append("told")

    options = ClaudeAgentOptions(cli_path=agent.path, close_timeout=0.1)
    async with anyio.create_task_group() as tasks:
        async with AgentPool(options, limit=1) as pool:
            held = pool.query("go")
            assert await anext(held)
            tasks.start_soon(ask, pool)
            await anyio.wait_all_tasks_blocked()
        await held.aclose()

    assert outcome == ["told"]


SESSION = "5f0c6a1e-2222-4333-8444-555566667777"


@pytest.mark.parametrize(
    "settings",
    [
        {"size": 0},
        {"size": 3, "limit": 2},
        {"idle_timeout": 0},
        {"size": "2"},
        {"size": 1.5},
        {"limit": "8"},
        {"idle_timeout": "5"},
        {"options": ClaudeAgentOptions(timeout=-1)},
        {"options": ClaudeAgentOptions(session_id=SESSION)},
        {"options": ClaudeAgentOptions(resume=SESSION)},
    ],
)
async def test_settings_that_make_no_pool_are_refused(settings):
    with pytest.raises(OptionsError):
        AgentPool(**settings)
