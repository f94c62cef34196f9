"""Whatever drives and whatever is driven, a caller sees the same: each scenario in all its cells."""

import pytest
from interop_kit import scenario
from interop_kit.matrix import outcomes, undeclared


def case(name):
    shown = scenario.load(name).shows
    return pytest.param(name, marks=[pytest.mark.feature(*shown)] if shown else [])


@pytest.mark.peers
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", [case(name) for name in scenario.names()])
def test_every_pair_of_sdk_and_agent_shows_what_the_official_pair_shows(name, peers):
    loaded = scenario.load(name)
    found = list(outcomes(loaded, peers))
    wrong = [f"{outcome.cell.name}: {line}" for outcome in found for line in outcome.wrong]
    if wrong and loaded.open:
        pytest.xfail(loaded.open)
    wrong += [f"declared, but equal: {pattern}" for pattern in undeclared(loaded, found)]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
