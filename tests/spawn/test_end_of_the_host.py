"""What becomes of agents when the program that started them ends, and when it forks."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.anyio

STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "300"])
print(child.pid, flush=True)
while True:
    time.sleep(60)
"""

PROLOGUE = """
import anyio, os, signal, sys
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.start import start_agent

async def begin():
    process, _ = start_agent(ClaudeAgentOptions(cli_path=sys.argv[1]))
    child = b""
    while not child.endswith(b"\\n"):
        child += await process.receive()
    print(process.pid, child.decode().strip(), flush=True)
    return process
"""


@pytest.fixture
def host():
    """Start a program that starts an agent; return it and the ids of the agent and its child."""
    hosts = []

    def start(agent, body):
        program = textwrap.dedent(PROLOGUE) + textwrap.dedent(body)
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", program, str(agent)], stdout=subprocess.PIPE, text=True
        )
        hosts.append(process)
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2
        return process, pids

    yield start
    for process in hosts:
        process.kill()
        process.wait()
        process.stdout.close()


async def test_a_killed_program_takes_its_agents_and_their_children_with_it(host, script, is_running, until):
    program, pids = host(
        script(STUBBORN),
        """
        async def main():
            process = await begin()
            await anyio.sleep(60)
        anyio.run(main)
        """,
    )
    assert all(map(is_running, pids))
    program.send_signal(signal.SIGKILL)
    await until(lambda: not any(map(is_running, pids)), 20)


async def test_a_program_that_ends_without_stopping_them_ends_its_agents(host, script, is_running, until):
    program, pids = host(
        script(STUBBORN),
        """
        async def main():
            global process
            process = await begin()
        anyio.run(main)
        """,
    )
    assert program.wait(40) == 0
    await until(lambda: not any(map(is_running, pids)), 20)


async def test_a_forked_child_neither_ends_nor_holds_the_agent(host, script, is_running, until):
    program, pids = host(
        script(STUBBORN),
        """
        async def main():
            process = await begin()
            if os.fork() == 0:
                process.kill()
                print(os.getpid(), flush=True)
                signal.pause()
            await anyio.sleep(60)
        anyio.run(main)
        """,
    )
    fork = int(program.stdout.readline())
    try:
        assert all(map(is_running, pids))
        program.send_signal(signal.SIGKILL)
        # The fork lives on and must not hide that the program has gone.
        await until(lambda: not any(map(is_running, pids)), 20)
    finally:
        os.kill(fork, signal.SIGKILL)


async def test_a_forked_child_that_ends_leaves_the_agent_alone(host, script, is_running):
    program, pids = host(
        script("for line in sys.stdin: print(os.getpid(), flush=True)"),
        """
        async def main():
            process, _ = start_agent(ClaudeAgentOptions(cli_path=sys.argv[1]))
            child = os.fork()
            if child == 0:
                sys.exit(0)
            os.waitpid(child, 0)
            await process.send(b"are you there?\\n")
            answer = await process.receive()
            print(process.pid, answer.decode().strip(), flush=True)
            await process.stop()
        anyio.run(main)
        """,
    )
    assert pids[0] == pids[1]
    assert program.wait(40) == 0
    assert not is_running(pids[0])


async def test_the_end_of_the_thread_that_started_an_agent_is_not_its_end(host, script, is_running, until):
    program, pids = host(
        script("print(os.getpid(), flush=True)\nfor line in sys.stdin: print('echo', flush=True)"),
        """
        import asyncio, threading
        loop = asyncio.new_event_loop()
        def in_a_thread():
            global process
            process = loop.run_until_complete(begin())
        thread = threading.Thread(target=in_a_thread)
        thread.start()
        thread.join()
        async def go_on():
            await process.send(b"x\\n")
            print((await process.receive()).decode().strip(), flush=True)
            await process.stop()
        loop.run_until_complete(go_on())
        """,
    )
    assert program.stdout.readline() == "echo\n"
    assert program.wait(40) == 0
    await until(lambda: not any(map(is_running, pids)), 20)


@pytest.fixture
def anyio_backend():
    # The programs choose their own; the test only waits.
    return "asyncio"
