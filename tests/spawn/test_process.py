"""A running agent: its bytes, its end, and ending it."""

import gc
import os
import signal
import time
import warnings
from pathlib import Path

import anyio
import pytest

from claude_wrapper.errors import CLIConnectionError

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]

ECHO = """
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""

STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    time.sleep(60)
"""


async def read_all(process):
    chunks = []
    while chunk := await process.receive():
        chunks.append(chunk)
    return b"".join(chunks)


async def test_what_is_sent_arrives_and_what_is_written_comes_back(started):
    process = started(ECHO)
    await process.send(b"one\n")
    await process.send(b"two\n")
    await process.end_input()
    assert await read_all(process) == b"one\ntwo\n"
    assert await process.wait(40) == 0


async def test_a_frame_far_larger_than_a_pipe_passes_whole_in_both_directions(started):
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


async def test_the_end_of_output_is_told_again_and_again(started):
    process = started("print('x', flush=True)")
    assert await read_all(process) == b"x\n"
    assert await process.receive() == b""
    await process.stop()
    assert await process.receive() == b""


async def test_an_exit_code_and_the_signal_that_ended_it_are_told(started):
    assert await started("sys.exit(7)").wait(40) == 7
    killed = started("os.kill(os.getpid(), signal.SIGKILL)")
    assert await killed.wait(40) == -signal.SIGKILL
    assert killed.returncode == -signal.SIGKILL


async def test_waiting_gives_up_when_the_time_is_over(started):
    process = started(ECHO)
    assert await process.wait(0.05) is None
    assert process.returncode is None


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


async def test_the_end_of_the_agent_is_the_end_of_its_output_though_a_child_holds_it(started):
    process = started("""
        child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        print(child.pid, flush=True)
        os._exit(3)
    """)
    with anyio.fail_after(40):
        child = int(await read_all(process))
    try:
        assert await process.wait(40) == 3
    finally:
        os.kill(child, signal.SIGKILL)


async def test_a_cancelled_reader_loses_nothing(started, read_line):
    process = started(ECHO)
    with anyio.move_on_after(0.05):
        await process.receive()
    await process.send(b"still here\n")
    assert await read_line(process) == "still here"


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


async def test_writers_do_not_mix_their_frames(started):
    process = started("""
        for line in sys.stdin.buffer:
            print(len(set(line.strip())), flush=True)
    """)
    async with anyio.create_task_group() as tasks:
        for letter in b"abcdefgh":
            tasks.start_soon(process.send, bytes([letter]) * 200_000 + b"\n")
    await process.end_input()
    assert (await read_all(process)).split() == [b"1"] * 8


async def test_writing_to_an_agent_that_has_gone_is_an_error_of_ours(started, read_line):
    process = started("os.close(0); print('closed', flush=True); time.sleep(60)")
    assert await read_line(process) == "closed"
    with pytest.raises(CLIConnectionError, match="takes no more input"):
        await process.send(b"anybody there?\n")


async def test_writing_after_the_input_was_closed_is_an_error_of_ours(started):
    process = started(ECHO)
    await process.end_input()
    await process.end_input()
    with pytest.raises(CLIConnectionError, match="has been closed"):
        await process.send(b"late\n")


async def test_an_agent_that_ends_with_its_input_is_stopped_without_a_signal(started, read_line):
    process = started("""
        signal.signal(signal.SIGTERM, lambda *_: os._exit(99))
        print("ready", flush=True)
        sys.stdin.read()
        sys.exit(4)
    """)
    assert await read_line(process) == "ready"
    assert await process.stop() == 4
    assert await process.stop() == 4


@pytest.mark.feature("WRAP-09")
async def test_an_agent_that_ignores_its_input_is_told_and_one_that_ignores_that_is_killed(
    started, read_line
):
    polite = started("print('ready', flush=True); time.sleep(60)", close_timeout=(0.1, 5))
    assert await read_line(polite) == "ready"
    assert await polite.stop() == -signal.SIGTERM
    stubborn = started(STUBBORN, close_timeout=0.1)
    assert await read_line(stubborn) == "ready"
    begin = time.monotonic()
    assert await stubborn.stop() == -signal.SIGKILL
    assert time.monotonic() - begin >= 0.2


async def test_the_grace_of_one_call_counts_more_than_that_of_the_options(started, read_line):
    process = started("print('ready', flush=True); time.sleep(600)", close_timeout=(300, 5))
    assert await read_line(process) == "ready"
    assert await process.stop(0) == -signal.SIGTERM


async def test_cancelling_the_one_who_stops_does_not_stop_the_stopping(started, is_running, read_line):
    process = started(STUBBORN, close_timeout=0.2)
    assert await read_line(process) == "ready"
    with anyio.move_on_after(0.01):
        await process.stop()
    assert not is_running(process.pid)
    assert process.returncode == -signal.SIGKILL


async def test_an_agent_with_much_to_say_at_the_end_ends_by_itself_though_nobody_reads(started):
    process = started("""
        sys.stdin.read()
        os.write(1, b"z" * 10_000_000)
        sys.stderr.write("e" * 3_000_000)
        sys.exit(5)
    """)
    assert await process.stop() == 5


async def test_output_written_while_stopping_still_reaches_the_reader(started):
    process = started("sys.stdin.read(); print('last words', flush=True)")
    assert await process.stop() == 0
    assert await read_all(process) == b"last words\n"


@pytest.mark.feature("WRAP-10")
async def test_what_the_agent_has_started_ends_with_it(started, is_running, read_line):
    process = started("""
        child = subprocess.Popen(["sleep", "300"])
        print(child.pid, flush=True)
        sys.stdin.read()
    """)
    child = int(await read_line(process))
    assert is_running(child)
    await process.stop()
    assert not is_running(child)


async def test_what_a_crashed_agent_has_started_ends_too(started, is_running, until, read_line):
    process = started("""
        child = subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL)
        print(child.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    child = int(await read_line(process))
    assert await process.wait(40) == -signal.SIGKILL
    await until(lambda: not is_running(child))


async def test_a_stubborn_child_of_the_agent_is_killed(started, is_running, read_line):
    process = started("""
        child = subprocess.Popen([sys.executable, "-c",
            "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); time.sleep(300)"],
            stdout=subprocess.PIPE)
        child.stdout.readline()
        print(child.pid, flush=True)
        sys.stdin.read()
    """)
    child = int(await read_line(process))
    await process.stop()
    assert not is_running(child)


async def test_killing_ends_all_at_once(started, is_running, until, read_line):
    process = started("""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "300"])
        print(child.pid, flush=True)
        time.sleep(300)
    """)
    child = int(await read_line(process))
    await anyio.to_thread.run_sync(process.kill)
    assert await process.wait(40) == -signal.SIGKILL
    await until(lambda: not is_running(child))
    process.kill()


async def test_a_sender_that_is_stuck_is_freed_when_the_agent_is_stopped(started, read_line):
    process = started("print('ready', flush=True); time.sleep(60)", close_timeout=0.2)
    assert await read_line(process) == "ready"
    errors = []

    async def send():
        try:
            await process.send(b"x" * 3_000_000)
        except CLIConnectionError as error:
            errors.append(error)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        await anyio.wait_all_tasks_blocked()
        await process.stop()
    assert len(errors) == 1


async def test_a_reader_is_freed_when_the_agent_is_stopped(started):
    process = started(ECHO)
    ends = []

    async def read():
        ends.append(await process.receive())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        await process.stop()
    assert ends == [b""]


async def test_several_may_stop_it_at_once(started):
    process = started(ECHO)
    codes = []

    async def stop():
        codes.append(await process.stop())

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(stop)
    assert codes == [0, 0, 0]


async def test_no_descriptor_and_no_child_is_left(started):
    def open_files():
        return len(list(Path("/proc/self/fd").iterdir()))

    await started(ECHO).stop()
    before = open_files()
    for _ in range(5):
        process = started(ECHO)
        await process.send(b"x\n")
        await process.receive()
        await process.stop()
    assert open_files() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # noqa: ASYNC222  # it does not wait


async def test_many_agents_run_at_once(started, read_line):
    processes = [started(ECHO) for _ in range(20)]
    answers = []

    async def talk(process, number):
        await process.send(b"%d\n" % number)
        answers.append(int(await read_line(process)))
        await process.stop()

    async with anyio.create_task_group() as tasks:
        for number, process in enumerate(processes):
            tasks.start_soon(talk, process, number)
    assert sorted(answers) == list(range(20))


async def test_a_dropped_agent_is_killed_with_a_warning(script, is_running, read_line):
    from claude_wrapper.options import ClaudeAgentOptions
    from claude_wrapper.spawn.start import start_agent

    process, _ = start_agent(ClaudeAgentOptions(cli_path=script(STUBBORN)))
    assert await read_line(process) == "ready"
    pid = process.pid
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del process
        gc.collect()
    assert [str(warning.message) for warning in caught] == [f"the agent {pid} was not stopped"]
    assert not is_running(pid)


async def test_agents_run_in_several_event_loops_in_several_threads(script):
    from claude_wrapper.options import ClaudeAgentOptions
    from claude_wrapper.spawn.start import start_agent

    path = script(ECHO)
    answers = []

    async def talk(name):
        process, _ = start_agent(ClaudeAgentOptions(cli_path=path))
        try:
            for number in range(20):
                await process.send(b"%s%d\n" % (name, number))
                answers.append(await read_all_of_line(process))
        finally:
            await process.stop()

    async def read_all_of_line(process):
        data = b""
        while not data.endswith(b"\n"):
            data += await process.receive()
        return data

    def in_a_thread(backend, name):
        anyio.run(talk, name, backend=backend)

    async with anyio.create_task_group() as tasks:
        for backend, name in (("asyncio", b"a"), ("trio", b"b"), ("asyncio", b"c")):
            tasks.start_soon(anyio.to_thread.run_sync, in_a_thread, backend, name)
    assert sorted(answers) == sorted(b"%s%d\n" % (name, i) for name in (b"a", b"b", b"c") for i in range(20))
