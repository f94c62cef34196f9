"""Pipes and input for systems where pipes cannot be waited for; they work on every system."""

import os
import signal

import anyio
import pytest

from claude_wrapper.errors import CLIConnectionError
from claude_wrapper.spawn.custody import Custody
from claude_wrapper.spawn.input_threads import ThreadedInput
from claude_wrapper.spawn.launch import launch
from claude_wrapper.spawn.pipes_threads import ThreadPipes
from claude_wrapper.spawn.private_files import PrivateFolder
from claude_wrapper.spawn.process import AgentProcess, Grace
from claude_wrapper.spawn.stderr import StderrSink

pytestmark = pytest.mark.anyio

ECHO = """
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
async def started(script):
    running = []

    def start(body, grace=None, on_line=None):
        process = launch([str(script(body))], {}, None)
        pipes = ThreadPipes(process)
        agent = AgentProcess(
            Custody(process, pipes, PrivateFolder()),
            pipes,
            ThreadedInput(process),
            StderrSink(16384, on_line),
            grace or Grace(),
        )
        running.append(agent)
        return agent

    yield start
    with anyio.CancelScope(shield=True):
        for agent in running:
            await agent.stop(0)


async def read_all(process):
    chunks = []
    with anyio.fail_after(40):
        while chunk := await process.receive():
            chunks.append(chunk)
    return b"".join(chunks)


async def test_frames_pass_whole_in_both_directions(started):
    process = started(ECHO)
    frame = b"x" * 5_000_000 + b"\n"
    received = []

    async def read():
        received.append(await read_all(process))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await process.send(frame)
        await process.end_input()
    assert received == [frame]
    assert await process.wait(40) == 0


async def test_what_is_written_right_before_the_end_is_read(started):
    for _ in range(5):
        process = started("os.write(1, b'q' * 300_000); os._exit(6)")
        assert len(await read_all(process)) == 300_000
        assert await process.wait(40) == 6
        await process.stop()


async def test_stderr_is_read_to_its_end(started):
    lines = []
    process = started("sys.stderr.write('a\\nb'); sys.exit(2)", on_line=lines.append)
    assert await process.wait(40) == 2
    assert lines == ["a", "b"]
    assert process.stderr_tail == "a\nb"


async def test_one_task_reads_while_another_waits_for_the_end(started):
    process = started("""
        for _ in range(50):
            os.write(1, b"y" * 65536)
            time.sleep(0.001)
    """)
    codes = []

    async def wait():
        codes.append(await process.wait(40))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert len(await read_all(process)) == 50 * 65536
    assert codes == [0]


async def test_the_ladder_of_stopping_is_the_same(started, is_running, read_line):
    stubborn = started(
        "signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(60)", grace=Grace(0.1, 0.1)
    )
    assert await read_line(stubborn) == "on"
    assert await stubborn.stop() == -signal.SIGKILL
    assert not is_running(stubborn.pid)
    willing = started("print('on', flush=True); sys.stdin.read(); sys.exit(4)")
    assert await read_line(willing) == "on"
    assert await willing.stop() == 4


async def test_an_agent_with_much_to_say_at_the_end_ends_by_itself_though_nobody_reads(started):
    process = started("sys.stdin.read(); os.write(1, b'z' * 10_000_000); sys.exit(5)")
    assert await process.stop() == 5


async def test_a_cancelled_sender_leaves_no_half_frame(started, read_line, tmp_path):
    process = started(f"""
        sys.stdin.buffer.readline()
        print("reading", flush=True)
        while not os.path.exists({str(tmp_path / "go")!r}):
            time.sleep(0.01)
        for line in sys.stdin.buffer:
            print(len(line), flush=True)
    """)
    await process.send(b"begin\n")
    assert await read_line(process) == "reading"
    with anyio.move_on_after(0.1) as scope:
        await process.send(b"a" * 1_000_000 + b"\n")
    assert scope.cancelled_caught
    (tmp_path / "go").touch()
    await process.send(b"next\n")
    await process.end_input()
    assert (await read_all(process)).split() == [b"1000001", b"5"]


async def test_writing_to_an_agent_that_has_gone_is_an_error_of_ours(started):
    process = started("sys.exit(0)")
    assert await process.wait(40) == 0
    with pytest.raises(CLIConnectionError, match="takes no more input"):
        await process.send(b"anybody there?\n")
    await process.end_input()
    with pytest.raises(CLIConnectionError, match="has been closed"):
        await process.send(b"late\n")


async def test_the_end_of_the_agent_is_the_end_of_its_output_though_a_child_holds_it(started):
    process = started("""
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        print(child.pid, flush=True)
        os._exit(3)
    """)
    with anyio.fail_after(40):
        child = int(await read_all(process))
    os.kill(child, signal.SIGKILL)
    assert await process.wait(40) == 3
