"""How processes end in whole runs: bounded waits, nothing left behind, errors that say what happened."""

import logging
import sys
import textwrap
import time

import anyio
import pytest

from claude_wrapper import (
    AssistantMessage,
    ClaudeSDKClient,
    PermissionResultAllow,
    ProcessError,
    query,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]


async def test_waiting_for_a_stubborn_agent_to_end_costs_no_processor_time(agent, options):
    agent.ignore_term().begin().result().wait("eof").stall("for ever")

    async with ClaudeSDKClient(options(close_timeout=(0.7, 0.7))) as client:
        await client.query("go")
        [m async for m in client.receive_response()]
        began, used = time.monotonic(), time.process_time()
        await client.close()

    assert time.monotonic() - began >= 1.4
    assert time.process_time() - used < 0.4
    agent.runs[0].wait_gone()


@pytest.mark.parametrize("heard", [True, False])
async def test_two_megabytes_on_stderr_hold_up_nothing(agent, options, heard):
    agent.stderr("x" * 100 + "\n", times=20_000).begin().say("hi").result("done")
    lines = []

    messages = [m async for m in query(prompt="go", options=options(stderr=lines.append if heard else None))]

    assert messages[-1].result == "done"
    assert len(lines) == (20_000 if heard else 0)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_leaving_a_run_of_a_whole_program_early_is_silent(agent, backend):
    agent.stderr("noise\n").begin().say("hi").say("more").result("done")
    program = f"""
        import anyio
        from claude_wrapper import AssistantMessage, ClaudeAgentOptions, query

        async def main():
            lines = []
            options = ClaudeAgentOptions(cli_path={str(agent.path)!r}, stderr=lines.append)
            async for message in query(prompt="go", options=options):
                if isinstance(message, AssistantMessage):
                    break
            assert lines == ["noise"], lines

        anyio.run(main, backend={backend!r})
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program)]
    done = await anyio.run_process(command, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    agent.runs[0].wait_gone()


async def test_an_answer_that_comes_after_the_agent_has_gone_is_dropped_quietly(agent, options, caplog):
    gone = anyio.Event()
    answered = anyio.Event()

    async def decide(*_):
        await gone.wait()
        answered.set()
        return PermissionResultAllow()

    agent.begin().ask("q", "can_use_tool", tool_name="Bash", input={}).say("hi").stall("asked").exit(0)
    async with ClaudeSDKClient(options(can_use_tool=decide)) as client:
        await client.query("go")
        messages = client.receive_messages()
        while not isinstance(await anext(messages), AssistantMessage):
            pass
        agent.gate("asked").release()
        with pytest.raises(ProcessError):
            [m async for m in messages]
        gone.set()
        with anyio.move_on_after(1):
            await answered.wait()

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_after_a_crash_the_client_says_that_it_is_dead_and_can_go_on_with_the_session(agent, options):
    agent.begin().say("hi").kill().next_start().begin().result("again").wait("eof")

    async with ClaudeSDKClient(options()) as client:
        await client.query("go")
        with pytest.raises(ProcessError, match=r"exit code: -9"):
            [m async for m in client.receive_response()]
        assert not client.alive
        for later in (client.query("more"), client.interrupt(), client.get_mcp_status()):
            with pytest.raises(ProcessError):
                await later
        session = client.session_id
        client.options.resume = session
        await client.connect()
        await client.query("more")
        messages = [m async for m in client.receive_response()]

    assert messages[-1].result == "again"
    assert any(session in argument for argument in agent.runs[1].argv)
