"""Whatever drives and whatever is driven, a caller sees the same: each scenario in all its cells."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from interop_kit import scenario
from interop_kit.settle import settled


def case(name):
    shown = scenario.load(name).shows
    return pytest.param(name, marks=[pytest.mark.feature(*shown)] if shown else [])


@pytest.fixture(scope="session")
def pool():
    """Most of a play is waiting, so two of them keep one core at work."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.mark.peers
@pytest.mark.timeout(480)
@pytest.mark.parametrize("name", [case(name) for name in scenario.names()])
def test_every_pair_of_sdk_and_agent_shows_what_the_official_pair_shows(name, peers, pool, record_property):
    loaded = scenario.load(name)
    verdict = settled(loaded, peers, pool)
    record_property("unsteady", verdict.unsteady)
    if verdict.wrong and loaded.open:
        pytest.xfail(loaded.open)
    if verdict.wrong:
        pytest.fail("\n".join(verdict.wrong), pytrace=False)


@pytest.mark.parametrize("name", scenario.names())
def test_each_scenario_declares_differences_in_one_way(name):
    loaded = scenario.load(name)
    assert not loaded.differs.keys() & loaded.may_differ.keys()
    assert all([*loaded.differs.values(), *loaded.may_differ.values()])
