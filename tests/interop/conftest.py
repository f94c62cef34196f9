"""Makes the suite's own package importable, and the peers available."""

import contextlib
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from interop_kit import kept
from interop_kit.peers import VARIABLE, find_peers


@pytest.fixture(scope="session")
def peers():
    found = find_peers()
    if found is None:
        pytest.skip(f"{VARIABLE} names no folder with the official SDKs")
    # A test takes nothing from earlier runs.
    os.environ.pop(kept.VARIABLE, None)
    with contextlib.closing(found.nurseries):
        yield found


def pytest_terminal_summary(terminalreporter):
    """Tell of cells that needed more than one play: they passed, but something depends on chance."""
    for report in terminalreporter.getreports("passed"):
        for line in dict(report.user_properties).get("unsteady", []):
            terminalreporter.write_line(f"unsteady: {report.nodeid} {line}")
