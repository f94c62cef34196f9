import contextlib
import os
from pathlib import Path

import anyio
import pytest

from claude_wrapper.agent.tools.contract import InputRejected, ToolContext, ToolFailure
from claude_wrapper.agent.tools.registry import (
    background_processes_ended,
    builtin_tools,
    end_background_processes,
    validate_input,
)


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def context(project, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return ToolContext(
        cwd=project,
        original_cwd=project,
        working_dirs=lambda: [project],
        session_id="11111111-2222-4333-8444-555555555555",
        environment={"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"},
        results_dir=home / "tool-results",
    )


class Session:
    """Calls tools the way the dispatch does."""

    def __init__(self, context):
        self.context = context
        self.tools = {tool.name: tool for tool in builtin_tools()}

    async def call(self, name, **tool_input):
        return await self.call_with(name, tool_input)

    async def call_with(self, name, tool_input):
        tool = self.tools[name]
        prepared = tool.prepare(validate_input(tool, tool_input), self.context)
        await tool.check(prepared, self.context)
        return await tool.run(prepared, self.context)

    async def failure(self, name, **tool_input):
        with pytest.raises(ToolFailure) as caught:
            await self.call(name, **tool_input)
        assert caught.value.structured == f"Error: {caught.value.text}"
        return caught.value.text

    async def rejection(self, name, **tool_input):
        with pytest.raises(InputRejected) as caught:
            await self.call(name, **tool_input)
        return caught.value.text

    async def read(self, path):
        return await self.call("Read", file_path=str(path))

    async def bash(self, command, **more):
        return await self.call("Bash", command=command, **more)


@pytest.fixture
def session(context):
    return Session(context)


def open_files():
    found = {}
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found[link.name] = str(link.readlink())
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind():
    before = open_files()
    yield
    end_background_processes()
    anyio.run(background_processes_ended)
    left = {number: name for number, name in open_files().items() if before.get(number) != name}
    assert [name for name in left.values() if "pipe" in name or "pidfd" in name] == []
