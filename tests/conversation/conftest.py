import anyio
import pytest

from claude_wrapper.testing import ScriptedAgent


@pytest.fixture
async def bounded():
    with anyio.fail_after(40):
        yield


@pytest.fixture
def agent(tmp_path):
    with ScriptedAgent(tmp_path) as scripted:
        yield scripted
