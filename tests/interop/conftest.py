"""Makes the suite's own package importable, and the peers available."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from interop_kit.peers import VARIABLE, find_peers


@pytest.fixture(scope="session")
def peers():
    found = find_peers()
    if found is None:
        pytest.skip(f"{VARIABLE} names no folder with the official SDKs")
    return found
