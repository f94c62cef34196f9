"""Stdout: ordered, never in the way, closed when nobody reads."""

import contextlib
import os
import threading

import anyio
import pytest

from claude_wrapper.agent.pipes.output import LineWriter, open_unshared


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield read, write
    with contextlib.suppress(OSError):
        os.close(read)
    with contextlib.suppress(OSError):
        os.close(write)


def read_all(fd, parts):
    while data := os.read(fd, 65536):
        parts.append(data)


@pytest.mark.anyio
async def test_what_does_not_fit_waits_and_keeps_its_order(pipe):
    read, write = pipe
    fd = open_unshared(write)
    writer = LineWriter(fd, lambda: None)
    lines = [bytes([65 + n % 26]) * 5_000 + b"\n" for n in range(200)]
    for line in lines:
        writer.write(line)
    assert writer.pending > 0

    parts = []
    reader = threading.Thread(target=read_all, args=(read, parts))
    reader.start()
    with anyio.fail_after(40):
        await writer.room()
    os.close(fd)
    os.close(write)
    reader.join(40)

    assert b"".join(parts) == b"".join(lines)
    assert writer.pending == 0


@pytest.mark.anyio
async def test_a_reader_that_has_gone_is_told_once_and_costs_nothing(pipe):
    read, write = pipe
    told = []
    fd = open_unshared(write)
    writer = LineWriter(fd, lambda: told.append(1))
    os.close(read)
    writer.write(b"one\n")
    writer.write(b"two\n")
    with anyio.fail_after(40):
        await writer.room()
    os.close(fd)

    assert told == [1]
    assert writer.closed
    assert writer.pending == 0


@pytest.mark.anyio
async def test_a_reader_that_goes_while_much_waits_frees_those_who_wait(pipe):
    read, write = pipe
    fd = open_unshared(write)
    writer = LineWriter(fd, lambda: None)
    writer.write(b"x" * 1_000_000)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.room)
        await anyio.wait_all_tasks_blocked()
        os.close(read)
        with anyio.fail_after(40):
            while not writer.closed:  # noqa: ASYNC110  # it is the system that tells
                await anyio.sleep(0.01)
    os.close(fd)


def test_the_state_of_a_shared_pipe_is_not_changed(pipe):
    _, write = pipe
    fd = open_unshared(write)

    assert fd != write
    assert not os.get_blocking(fd)
    assert os.get_blocking(write)
    os.close(fd)
