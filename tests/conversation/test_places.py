"""Where a client may be used: tasks, threads, event loops, forked processes."""

import asyncio
import os
import threading
import traceback

import anyio
import pytest
import trio

from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    ClientUseError,
    ResultMessage,
    query,
    startup,
)
from claude_wrapper.testing import ScriptedAgent

WHO_USES_IT = {
    "query": lambda c: c.query("go"),
    "interrupt": lambda c: c.interrupt(),
    "a request": lambda c: c.get_mcp_status(),
    "messages": lambda c: anext(c.receive_messages()),
    "a response": lambda c: anext(c.receive_response()),
    "disconnect": lambda c: c.disconnect(),
}


def client_of(agent, **options):
    return ClaudeSDKClient(ClaudeAgentOptions(cli_path=agent.path, **options))


async def result_of(messages):
    return [m async for m in messages if isinstance(m, ResultMessage)][-1].result


# -- tasks


@pytest.mark.anyio
async def test_two_tasks_that_read_do_not_take_messages_from_each_other(agent):
    """With the official client one of them waits for ever."""
    caught = []

    async def read_too(client):
        with pytest.raises(ClientUseError, match="Another task is reading"):
            await anext(client.receive_messages())
        caught.append(True)
        agent.gate("told").release()

    agent.begin().stall("told").result("done").wait("eof")
    async with client_of(agent) as client, anyio.create_task_group() as tasks:
        await client.query("go")
        assert (await anext(client.receive_messages())).subtype == "init"
        response = client.receive_response()
        tasks.start_soon(read_too, client)
        assert await result_of(response) == "done"

    assert caught == [True]


@pytest.mark.anyio
async def test_a_reader_that_has_given_up_leaves_the_messages_to_the_next(agent):
    agent.begin().stall("go").result("done").wait("eof")
    async with client_of(agent) as client:
        await client.query("go")
        with anyio.move_on_after(0.2):
            await result_of(client.receive_response())
        agent.gate("go").release()
        assert await result_of(client.receive_response()) == "done"


@pytest.mark.anyio
async def test_many_tasks_may_ask_at_once(agent):
    async with client_of(agent.wait("init").wait("eof")) as client, anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(client.get_mcp_status)

    assert len(agent.runs[0].frames_of("mcp_status")) == 20


@pytest.mark.anyio
async def test_it_may_be_closed_by_two_tasks_at_once(agent):
    client = client_of(agent.wait("init").wait("eof"))
    await client.connect()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(client.disconnect)

    assert (client.alive, client.pid) == (False, None)
    agent.runs[0].wait_gone()


# -- event loops


@pytest.mark.parametrize("name", WHO_USES_IT)
def test_in_another_event_loop_it_says_so(agent, name):
    client = client_of(agent.wait("init").wait("eof").sleep(60), close_timeout=0.1)

    async def elsewhere():
        with pytest.raises(ClientUseError, match="another event loop"):
            await WHO_USES_IT[name](client)

    async def main():
        await client.connect()
        await asyncio.to_thread(asyncio.run, elsewhere())
        await client.disconnect()

    asyncio.run(main())
    agent.runs[0].wait_gone()


def test_in_an_event_loop_of_another_kind_it_says_so(agent):
    client = client_of(agent.wait("init").wait("eof"))

    async def elsewhere():
        with pytest.raises(ClientUseError, match="another event loop"):
            await client.query("go")

    async def main():
        await client.connect()
        await asyncio.to_thread(trio.run, elsewhere)
        await client.disconnect()

    asyncio.run(main())


def test_a_second_run_of_a_loop_is_another_one(agent):
    client = client_of(agent.wait("init").wait("eof"))
    asyncio.run(client.connect())
    agent.runs[0].wait_gone()

    async def second():
        with pytest.raises(ClientUseError, match=r"with asyncio\.run\(\) or trio\.run\(\)"):
            await client.query("go")

    asyncio.run(second())
    agent.runs[0].wait_gone()


def test_clients_in_threads_with_loops_of_their_own_do_not_meet(tmp_path):
    outcomes = []

    def written(number):
        scripted = ScriptedAgent(tmp_path / str(number)).begin().result("0")
        for turn in range(1, 4):
            scripted.wait("user").init().result(str(turn))
        assert scripted.wait("eof").path
        return scripted

    # All before the first start: a file that is open for writing while another thread forks cannot be run.
    agents = [written(number) for number in range(8)]

    async def talk(number):
        async with client_of(agents[number]) as client:
            for turn in range(4):
                await client.query("go")
                assert await result_of(client.receive_response()) == str(turn)
        outcomes.append(number)

    def run(number):
        (asyncio.run if number % 2 else trio.run)(*([talk(number)] if number % 2 else [talk, number]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(40)

    assert sorted(outcomes) == list(range(8))


def test_it_may_be_killed_from_another_thread(agent):
    async def main():
        async with client_of(agent.begin().say("hi").sleep(60)) as client:
            await client.query("go")
            async for message in client.receive_response():
                if isinstance(message, AssistantMessage):
                    await asyncio.to_thread(client.kill)

    with pytest.raises(Exception, match="exit code -9"):
        asyncio.run(main())


def test_a_query_that_nobody_closed_ends_with_its_event_loop(agent):
    """The loop cancels its tasks first and closes generators then: whoever waited for the reader would wait long."""
    agent.begin().say("hi").sleep(600)
    kept = []

    async def main():
        messages = query(prompt="go", options=ClaudeAgentOptions(cli_path=agent.path))
        kept.append(messages)
        await anext(messages)

    asyncio.run(main())

    agent.runs[0].wait_gone()


# -- forks

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX systems fork")


def in_a_fork(function):
    """What went wrong in a forked child that calls the function."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            function()
            os.write(writing, b"ok")
        except BaseException:  # noqa: BLE001  # pytest's own are among them, and the parent shall see it
            os.write(writing, traceback.format_exc().encode()[-4000:])
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    with os.fdopen(reading, "rb") as file:
        return file.read().decode()


@forks
@pytest.mark.parametrize("name", [n for n in WHO_USES_IT if n != "disconnect"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_told_that_the_agent_is_not_its_own_and_harms_nobody(agent, name):
    agent.begin().result("done").wait("eof")

    async def main():
        async with client_of(agent) as client:

            def child():
                assert not client.alive
                with pytest.raises(ClientUseError, match="of which this one is a fork"):
                    client.kill()
                with pytest.raises(ClientUseError, match="of which this one is a fork"):
                    asyncio.run(awaited(WHO_USES_IT[name](client)))

            assert await asyncio.to_thread(in_a_fork, child) == "ok"
            await client.query("go")
            assert await result_of(client.receive_response()) == "done"

    asyncio.run(main())


async def awaited(awaitable):
    return await awaitable


@forks
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_closing_it_in_a_fork_ends_nothing(agent):
    agent.begin().result("done").wait("eof")

    async def main():
        async with client_of(agent) as client:
            warm = await startup(client.options)

            def child():
                asyncio.run(awaited(client.disconnect()))
                asyncio.run(awaited(warm.close()))

            assert await asyncio.to_thread(in_a_fork, child) == "ok"
            assert (client.alive, warm.alive) == (True, True)
            await warm.close()
            await client.query("go")
            assert await result_of(client.receive_response()) == "done"

    asyncio.run(main())


@forks
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_may_have_an_agent_of_its_own(agent):
    agent.begin().result("done").next_start().begin().result("the child's").wait("eof")

    async def in_the_child():
        messages = query(prompt="go", options=ClaudeAgentOptions(cli_path=agent.path))
        assert await result_of(messages) == "the child's"

    async def main():
        async with client_of(agent) as client:
            assert await asyncio.to_thread(in_a_fork, lambda: asyncio.run(in_the_child())) == "ok"
            await client.query("go")
            assert await result_of(client.receive_response()) == "done"

    asyncio.run(main())


# -- after the end


@pytest.mark.anyio
async def test_an_iterator_from_before_the_close_is_at_its_end(agent):
    client = client_of(agent.begin().say("hi").wait("eof"))
    await client.connect("go")
    messages = client.receive_messages()
    await anext(messages)
    await client.disconnect()
    rest = [m async for m in messages]

    assert [type(m).__name__ for m in rest] in ([], ["AssistantMessage"])
    with pytest.raises(CLIConnectionError, match="Not connected"):
        client.receive_messages()


@pytest.mark.anyio
async def test_it_knows_whether_it_lives(agent):
    client = client_of(agent.begin().result("done").stall("end").exit(0))
    assert not client.alive
    await client.connect("go")
    assert client.alive
    assert await result_of(client.receive_response()) == "done"
    agent.gate("end").release()
    assert [m async for m in client.receive_messages()] == []
    assert not client.alive
    await client.disconnect()
    assert not client.alive


@pytest.mark.anyio
async def test_it_names_its_session_as_soon_as_it_is_known(agent):
    session = "5f0c6a1e-2222-4333-8444-555566667777"
    client = client_of(agent.begin(session_id="told").result("done", session_id="told"), session_id=session)
    assert client.session_id == session
    await client.connect("go")
    await result_of(client.receive_response())
    assert client.session_id == "told"
    await client.disconnect()
