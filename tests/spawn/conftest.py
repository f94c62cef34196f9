"""Small agents, written as scripts and started as real processes."""

import itertools
import sys
import textwrap
from pathlib import Path

import anyio
import pytest

from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.spawn.start import start_agent


@pytest.fixture
def script(tmp_path):
    """Write a Python program and return its path."""

    numbers = itertools.count()

    def write(body, name=None):
        path = tmp_path / (name or f"agent{next(numbers)}")
        path.write_text(
            f"#!{sys.executable}\nimport os, signal, subprocess, sys, time\n" + textwrap.dedent(body)
        )
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
async def started(script):
    """Start programs as agents; what a test leaves running is stopped."""
    running = []

    def start(body, **options):
        process, _ = start_agent(ClaudeAgentOptions(cli_path=script(body), **options))
        running.append(process)
        return process

    yield start
    with anyio.CancelScope(shield=True):
        for process in running:
            await process.stop(0)


@pytest.fixture
def is_running():
    """Tell whether a process runs; a zombie does not."""

    def check(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    return check


@pytest.fixture
def until():
    """Wait until something is so, for a bounded time."""

    async def wait(condition, seconds=40):
        with anyio.fail_after(seconds):
            while not condition():  # noqa: ASYNC110  # the system tells nobody when a process has gone
                await anyio.sleep(0.01)

    return wait


@pytest.fixture
def read_line():
    """Read a line of an agent's output, for a bounded time."""

    async def read(process):
        data = b""
        with anyio.fail_after(40):
            while not data.endswith(b"\n"):
                data += await process.receive()
        return data.decode().strip()

    return read
