"""An agent that fails at any frame of a session, whatever its user does: a right end, soon, and nothing left.

Each batch of cases runs in a program of its own, under warnings that are errors, which has to say
nothing on stderr. By default a part of the cases is run, the same each time; with
CLAUDE_WRAPPER_FAULTS=all, all of them.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "session.py"
EVERYTHING = os.environ.get("CLAUDE_WRAPPER_FAULTS") == "all"
BATCHES = 6
STEP = 1 if EVERYTHING else 5
"""Prime to the number of faults and of consumers, so that all of them are met at many places."""


def load_session():
    spec = importlib.util.spec_from_file_location("session", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


session = load_session()
CHOSEN = range(0, len(session.CASES), STEP)
CODES = {"killed": -9, "exit 0": 0, "exit 3": 3, "half line": 0, "stdout closed": None}


def test_the_matrix_has_as_many_cases_as_it_is_said_to_have():
    assert len(session.PLACES) == 18
    assert len(session.CASES) == 18 * 8 * 4 == 576
    chosen = [session.CASES[number] for number in CHOSEN]
    assert {fault for _, fault, _ in chosen} == set(session.FAULTS)
    assert {consumer for _, _, consumer in chosen} == set(session.CONSUMERS)
    assert {place for place, _, _ in chosen} == set(session.PLACES)


@pytest.mark.feature("WRAP-02", "WRAP-09", "STREAM-05")
@pytest.mark.timeout(240)
@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_faults_at_every_frame(backend, batch):
    numbers = list(CHOSEN[batch::BATCHES])
    report = run_program(backend, numbers)

    assert report["after"] == {**report["before"], "children": []}
    assert report["tasks"] == 0
    outcomes = report["outcomes"]
    assert len(outcomes) == len(numbers)
    wrong = {}
    for number, outcome in outcomes.items():
        case = session.CASES[int(number)]
        complaint = what_is_wrong(*case, outcome)
        if complaint:
            wrong[case] = (complaint, outcome)
    assert not wrong


def run_program(backend, numbers):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", PROGRAM, backend, "12"],
        input=json.dumps(numbers),
        capture_output=True,
        text=True,
        timeout=230,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return json.loads(done.stdout)


def what_is_wrong(place, fault, consumer, outcome):
    if outcome["hangs"]:
        return "hangs"
    if outcome["left"]:
        return "processes are left"
    ends = allowed_ends(place, fault, consumer)
    if (outcome["error"], outcome["exit_code"]) not in ends:
        return f"should have ended as one of {ends}"
    if fault == "exit 3" and outcome["exit_code"] == 3 and outcome["stderr"] != "that was it":
        return "should tell the last words of the agent"
    if not has_right_messages(place, fault, consumer, outcome):
        return "other messages were expected"
    if consumer == "idle" and outcome["later"] not in allowed_answers(place, fault):
        return f"a later request should have ended as one of {allowed_answers(place, fault)}"
    return None


def allowed_ends(place, fault, consumer):
    """The errors that may be raised, each with its exit code; None where there is none."""
    if consumer == "cancelled":
        return [(None, None)]
    if consumer == "closing":
        if place < session.HANDSHAKE:
            return [("ClientUseError", None)]
        # At the end of the handshake the client may or may not have noticed it.
        late = [
            ("ClientUseError", None),
            ("CLIConnectionError", None),
            ("AgentExitedError", CODES.get(fault, 0)),
        ]
        return [(None, None), *(late if place == session.HANDSHAKE else [])]
    ended = place >= 16
    if fault == "stall":
        return [("ControlTimeoutError", None) if place < 2 else (None if ended else "IdleTimeoutError", None)]
    if fault == "junk":
        return [(None, None)]
    if fault == "stdin closed":
        if place == 0:
            return [("AgentExitedError", 0)]
        # The prompt may have been written before.
        return [(None, None)] + [("AgentExitedError", 0), ("IncompleteTurnError", 0)] * (place <= 2)
    return ends_of_the_dead(place, fault, consumer, ended=ended)


def ends_of_the_dead(place, fault, consumer, *, ended):
    code = CODES[fault]
    if place < session.HANDSHAKE:
        # One that cannot write its answer fails.
        return [("AgentExitedError", code)] + [("AgentExitedError", 1)] * (fault == "stdout closed")
    if ended:
        return [("ProcessError", code) if code and consumer == "reading" else (None, None)]
    usual = ("ProcessError" if code else "IncompleteTurnError", code)
    return [usual] + [("AgentExitedError", code)] * (place == session.HANDSHAKE)


def has_right_messages(place, fault, consumer, outcome):
    everything = list(session.SAID.values())
    before = [name for step, name in session.SAID.items() if step < place]
    goes_on = fault in {"junk", "stdin closed"}
    got = outcome["messages"]
    if consumer in {"cancelled", "closing"}:
        return got == (everything if goes_on else before)[: len(got)]
    if goes_on:
        return got == everything or (outcome["error"] is not None and place <= session.HANDSHAKE)
    return got == before


def allowed_answers(place, fault):
    if place < session.HANDSHAKE and fault != "junk" and (place, fault) != (1, "stdin closed"):
        return ["CLIConnectionError"]
    if place == len(session.STEPS) or fault == "junk":
        return ["answered"]
    if fault == "stall":
        return ["ControlTimeoutError" if place == 16 else "IdleTimeoutError"]
    return ["AgentExitedError"]
