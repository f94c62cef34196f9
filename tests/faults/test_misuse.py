"""Clients and runs that are used at the wrong time, twice at once, or with prompts that fail: told, and still of use."""

import asyncio
import gc
import threading

import anyio
import pytest

from claude_wrapper import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    CLIConnectionError,
    ClientUseError,
    IncompleteTurnError,
    MessageParseError,
    ProcessError,
    ResultMessage,
    query,
)
from claude_wrapper.testing import ScriptedAgent

INTERRUPTED = {"subtype": "error_during_execution", "is_error": True}


def options_of(agent, **options):
    return ClaudeAgentOptions(cli_path=agent.path, **options)


def client_of(agent, **options):
    return ClaudeSDKClient(options_of(agent, **options))


def prompt(text):
    return {"type": "user", "message": {"role": "user", "content": text}}


async def result_of(messages):
    return [message async for message in messages if isinstance(message, ResultMessage)][-1].result


calm = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


class TestConnecting:
    pytestmark = calm

    async def test_a_client_that_connects_refuses_to_connect_once_more_at_the_same_time(self, agent):
        client = client_of(
            agent.wait("mute:initialize").stall("on").reply("initialize").wait("user").result("done")
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.connect)
            await agent.gate("on").reached()
            with pytest.raises(ClientUseError, match="connecting already"):
                await client.connect()
            agent.gate("on").release()

        assert len(agent.runs) == 1
        await client.query("go")
        assert await result_of(client.receive_response()) == "done"
        await client.disconnect()

    async def test_a_client_may_be_closed_while_it_connects(self, agent):
        client = client_of(agent.wait("mute:initialize").sleep(60))
        caught = []

        async def connect():
            with pytest.raises(ClientUseError, match="closed while it was connecting"):
                await client.connect()
            caught.append(True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connect)
            await (await agent.run()).frame("initialize")
            await client.disconnect()
            # Not told of it some time later, but when it is done.
            assert agent.runs[0].state == "gone"

        assert caught == [True]
        assert not client.alive

    async def test_after_that_it_can_be_connected(self, agent):
        agent.wait("mute:initialize").sleep(60).next_start().begin().result("done").wait("eof")
        client = client_of(agent)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.refused, client)
            await (await agent.run()).frame("initialize")
            await client.disconnect()

        async with client:
            await client.query("go")
            assert await result_of(client.receive_response()) == "done"

    async def refused(self, client):
        with pytest.raises(ClientUseError):
            await client.connect()

    async def test_connecting_once_more_starts_anew(self, agent):
        agent.begin().result("one").wait("eof").next_start().begin().result("two").wait("eof")
        client = client_of(agent)
        for expected in ("one", "two"):
            await client.connect("go")
            assert await result_of(client.receive_response()) == expected
        assert agent.runs[0].state == "gone"
        await client.disconnect()


class TestCallbacks:
    pytestmark = calm

    @pytest.mark.feature("WRAP-09")
    @pytest.mark.parametrize("end", ["killed", "closed"])
    async def test_a_callback_that_never_returns_ends_with_the_agent(self, agent, end):
        begun, ended = anyio.Event(), []

        async def decide(_name, _input, _context):
            try:
                begun.set()
                await anyio.sleep_forever()
            finally:
                ended.append(True)

        agent.begin().ask("may", "can_use_tool", tool_name="Bash", input={}, tool_use_id="use").wait("eof")
        async with client_of(agent, can_use_tool=decide, close_timeout=0.5) as client:
            await client.query("go")
            await begun.wait()
            if end == "killed":
                client.kill()
                with pytest.raises(ProcessError) as caught:
                    await result_of(client.receive_response())
                assert caught.value.exit_code == -9

        assert ended == [True]
        assert agent.runs[0].state == "gone"


class TestAfterTheEnd:
    pytestmark = calm

    @pytest.mark.parametrize(
        "name", ["query", "interrupt", "set_model", "get_mcp_status", "receive_response"]
    )
    async def test_a_closed_client_says_that_it_is_not_connected(self, agent, name):
        client = client_of(agent.begin().wait("eof"))
        await client.connect("go")
        await client.disconnect()

        with pytest.raises(CLIConnectionError, match="Not connected"):
            await call(client, name)

    async def test_a_run_that_is_over_stays_over(self, agent):
        messages = query(prompt="go", options=options_of(agent.begin().result("done").wait("eof")))
        assert await result_of(messages) == "done"

        assert [message async for message in messages] == []
        await messages.aclose()
        assert len(agent.runs) == 1

    async def test_a_run_that_never_began_starts_nothing(self, agent):
        messages = query(prompt="go", options=options_of(agent.begin()))
        await messages.aclose()

        assert [message async for message in messages] == []
        assert agent.runs == []

    async def test_a_client_that_is_dropped_has_its_agent_ended_and_is_complained_about(self, agent):
        client = client_of(agent.begin().wait("eof"))
        await client.connect("go")
        with pytest.warns(ResourceWarning, match="was not closed"):  # noqa: PT031  # in a cycle it would wait for gc
            del client
            gc.collect()

        await agent.runs[0].gone()


async def call(client, name):
    arguments = ["go"] if name == "query" else []
    outcome = getattr(client, name)(*arguments)
    if name != "receive_response":
        await outcome


class TestTwoAtOnce:
    pytestmark = calm

    async def test_prompts_of_two_tasks_do_not_mix(self, agent):
        texts = ["a" * 300_000, "b" * 300_000, "c" * 10]
        agent.wait("init").wait("user").wait("user").wait("user").result("1").result("2").result("3").wait(
            "eof"
        )
        async with client_of(agent) as client:
            async with anyio.create_task_group() as tasks:
                for text in texts:
                    tasks.start_soon(client.query, text)
            assert [await result_of(client.receive_response()) for _ in texts] == ["1", "2", "3"]

        sent = [frame["message"]["content"] for frame in agent.runs[0].frames_of("user")]
        assert sorted(sent) == texts

    async def test_a_run_is_read_by_one_task(self, agent):
        messages = query(
            prompt="go", options=options_of(agent.begin().stall("on").result("done").wait("eof"))
        )
        assert (await anext(messages)).subtype == "init"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.refused, messages, agent)
            assert await result_of(messages) == "done"

    async def refused(self, messages, agent):
        await agent.gate("on").reached()
        with pytest.raises(ClientUseError, match="Another task is reading"):
            await anext(messages)
        agent.gate("on").release()

    async def test_a_run_may_be_closed_while_another_task_reads_it(self, agent):
        agent.begin().stall("on").wait("interrupt").result("", **INTERRUPTED).wait("eof")
        messages = query(prompt="go", options=options_of(agent))
        told = ["nothing"]

        async def read():
            try:
                told.extend([type(message).__name__ async for message in messages])
            except IncompleteTurnError as error:
                told.append(str(error))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await agent.gate("on").reached()
            agent.gate("on").release()
            await messages.aclose()

        # One that waits for a message is told; one that just had one finds the run at its end.
        assert told[-1] in {
            "nothing",
            "SystemMessage",
            "ResultMessage",
            "The agent was closed before it gave a result",
        }
        assert agent.runs[0].state == "gone"


class TestPrompts:
    pytestmark = calm

    @pytest.mark.parametrize(
        "bad", ["text", {"type": "user"}, {"type": "user", "message": {"content": object()}}, 5]
    )
    async def test_after_a_prompt_of_a_wrong_shape_the_client_is_still_of_use(self, agent, bad):
        async def prompts():
            yield bad

        async with client_of(agent.begin().result("done").wait("eof")) as client:
            with pytest.raises(MessageParseError):
                await client.query(prompts())
            await client.query("go")
            assert await result_of(client.receive_response()) == "done"

    async def test_after_prompts_that_raise_the_client_is_still_of_use(self, agent):
        async def prompts():
            yield prompt("one")
            raise LookupError("no more")

        agent.begin().result("one").wait("user").result("two").wait("eof")
        async with client_of(agent) as client:
            with pytest.raises(LookupError, match="no more"):
                await client.query(prompts())
            assert await result_of(client.receive_response()) == "one"
            await client.query("go")
            assert await result_of(client.receive_response()) == "two"

    async def test_prompts_that_never_end_can_be_cancelled(self, agent):
        closed = []

        async def prompts():
            try:
                yield prompt("one")
                await anyio.sleep_forever()
            finally:
                closed.append(True)

        agent.begin().result("one").wait("user").result("two").wait("eof")
        async with client_of(agent) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.query, prompts())
                assert await result_of(client.receive_response()) == "one"
                tasks.cancel_scope.cancel()
            assert closed == [True]
            await client.query("go")
            assert await result_of(client.receive_response()) == "two"

    @pytest.mark.parametrize("anyio_backend", ["asyncio"])
    async def test_prompts_that_are_cancelled_by_something_of_their_own_fail_the_run(self, agent):
        async def prompts():
            yield prompt("one")
            raise asyncio.CancelledError

        messages = query(prompt=prompts(), options=options_of(agent.begin().wait("interrupt").wait("eof")))
        with pytest.raises(CLIConnectionError, match="was cancelled"):
            await result_of(messages)
        assert agent.runs[0].state == "gone"


@pytest.mark.feature("STREAM-04")
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_task_of_asyncio_that_is_cancelled_again_and_again_leaves_nothing(agent, times):
    agent.begin().say("hi").ignore_term().wait("interrupt").sleep(60)

    async def read():
        async for _ in query(prompt="go", options=options_of(agent, close_timeout=0.2)):
            pass

    async def main():
        task = asyncio.ensure_future(read())
        await (await agent.run()).frame("user")
        for number in range(times):
            task.cancel()
            if number == 0:
                await agent.runs[0].frame("interrupt")
            await asyncio.sleep(0)
        await asyncio.wait([task], timeout=20)
        assert task.cancelled()

    asyncio.run(main())
    agent.runs[0].wait_gone()


def test_in_a_thread_without_an_event_loop_a_client_says_so(agent):
    caught = []

    def elsewhere(client):
        call = client.query("go")
        try:
            call.send(None)
        except ClientUseError as error:
            caught.append(str(error))

    async def main():
        async with client_of(agent.begin().say("hi").result("done").wait("eof")) as client:
            thread = threading.Thread(target=elsewhere, args=[client])
            thread.start()
            await asyncio.to_thread(thread.join)
            await client.query("go")
            messages = [message async for message in client.receive_response()]
            assert isinstance(messages[1], AssistantMessage)

    asyncio.run(main())
    assert "was started in another event loop" in caught[0]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_threads_with_loops_of_their_own_run_many_at_once(tmp_path, backend):
    agent = ScriptedAgent(tmp_path).begin().say("hi").result("done").wait("eof")
    # A file that is being written while another thread forks cannot be executed.
    options = options_of(agent)
    results = []

    async def one():
        results.append(await result_of(query(prompt="go", options=options)))

    async def main():
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(one)

    with agent:
        threads = [
            threading.Thread(target=anyio.run, args=[main], kwargs={"backend": backend}) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert results == ["done"] * 16
        assert {run.state for run in agent.runs} == {"gone"}
