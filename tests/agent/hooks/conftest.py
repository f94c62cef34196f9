import os

import pytest

from claude_wrapper.agent.hooks.command import CommandRun, Surroundings
from claude_wrapper.agent.hooks.hook import CommandHook
from claude_wrapper.agent.tools.registry import background_processes_ended, end_background_processes


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def around(tmp_path):
    environment = {"PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(tmp_path)}
    return Surroundings(tmp_path, tmp_path, environment)


@pytest.fixture
async def run_hook(around):
    """Runs one command hook to its end."""

    async def run(command, event=b"{}", seconds=10.0, args=None):
        hook = CommandHook(command=command, args=args, seconds=seconds)
        seen = []
        running = CommandRun(hook, event, around, seen.append)
        await running.run()
        return running

    yield run
    end_background_processes()
    await background_processes_ended()
