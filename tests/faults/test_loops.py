"""Loops over messages that are left early, closing nothing: nothing stays, and nobody complains."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "loops.py"


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.feature("WRAP-02")
@pytest.mark.parametrize("ending", ["return", "break", "raise", "keep"])
@pytest.mark.parametrize("way", ["by_query", "by_query_in_a_task", "by_warm_agent", "by_pool", "by_client"])
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_leaving_early_as_the_last_thing(agent, backend, way, ending):
    agent.begin().say("hi").wait("interrupt")
    agent.result("", subtype="error_during_execution", is_error=True).wait("eof")

    run(way, ending, backend, agent.path)

    assert agent.runs
    assert [run.state for run in agent.runs] == ["gone"] * len(agent.runs)
    if way not in {"by_client", "by_pool"}:
        # Where the client or the pool is closed, the agent is not given that time.
        (used,) = [run for run in agent.runs if run.frames_of("user")]
        assert used.frames_of("interrupt")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_agent_that_listens_to_nothing_is_ended_all_the_same(agent, backend):
    agent.begin().say("hi").ignore_term().sleep(60)

    run("by_query", "return", backend, agent.path)

    assert [run.state for run in agent.runs] == ["gone"]
