"""Fixtures and rules for all tests."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import anyio
import pytest

from claude_wrapper.testing import ScriptedAgent

NOBODY = 65534

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So start shells what runs in the background; programs that tests interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture
async def bounded():
    """A test that hangs fails, and with it says where."""
    with anyio.fail_after(40):
        yield


@pytest.fixture
def agent(tmp_path):
    """An agent that follows a script."""
    with ScriptedAgent(tmp_path) as scripted:
        yield scripted


@pytest.fixture
def unprivileged():
    """A folder of a user without privileges, as whom the test goes on: root becomes nobody for its time."""
    folder = Path(tempfile.mkdtemp())
    is_root = os.name == "posix" and os.geteuid() == 0
    if is_root:
        os.chown(folder, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, 0)
    yield folder
    if is_root:
        os.setresuid(0, 0, 0)
    shutil.rmtree(folder)


def pytest_addoption(parser):
    parser.addoption("--no-skips", action="store_true", help="a skipped test fails the run")


def pytest_terminal_summary(terminalreporter, config):
    skipped = terminalreporter.stats.get("skipped", [])
    if config.getoption("--no-skips") and skipped:
        terminalreporter.write_line("skipped, though --no-skips was given:", red=True)
        for report in skipped:
            terminalreporter.write_line(f"  {report.nodeid}: {report.longrepr[2] if report.longrepr else ''}")


def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if reporter and session.config.getoption("--no-skips") and reporter.stats.get("skipped"):
        session.exitstatus = 1
