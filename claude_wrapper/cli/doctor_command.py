"""The command `doctor`: says which agent would run and why, and what a run would lack."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from claude_wrapper.wire.codec import encode_line

from . import doctor_agent, doctor_endpoint, doctor_machine
from .exits import Exit
from .finding import Finding, Status
from .printable import printable

__all__ = ["doctor"]

_SIGNS: dict[Status, str] = {"ok": "ok", "note": "note", "warning": "WARN", "fault": "FAULT"}


def doctor(*, agent: str | None, as_json: bool) -> int:
    """Look at everything, print it, and return 0 where nothing keeps a run from working, else 1."""
    found = []
    for finding in _look(agent):
        found.append(finding)
        if not as_json:
            _print(finding)
    faults = [finding.name for finding in found if finding.status == "fault"]
    if as_json:
        report = {"ok": not faults, "findings": found}
        sys.stdout.buffer.write(encode_line(report))
    else:
        print(
            f"\nRuns will not work: {', '.join(faults)}." if faults else "\nNothing keeps a run from working."
        )
    return Exit.ERROR_RESULT if faults else Exit.SUCCESS


def _look(cli_path: str | None) -> Iterator[Finding]:
    yield doctor_agent.library()
    searched = doctor_agent.places(cli_path)
    finding, program = doctor_agent.agent(searched)
    yield finding
    for place in searched:
        yield Finding("searched", "note", f"{place.name}: {place.finding}")
    yield from doctor_agent.others(program)
    info = {}
    if program is not None:
        handshake = doctor_agent.shake_hands(cli_path)
        info = handshake.info
        yield handshake.finding
    yield doctor_endpoint.credentials(os.environ, info)
    yield doctor_endpoint.base_url(os.environ)
    yield from doctor_machine.folders()
    yield doctor_machine.terminal()
    yield doctor_machine.sandbox()
    yield from doctor_machine.programs(program)


def _print(finding: Finding) -> None:
    first, *more = printable(finding.text).splitlines() or [""]
    print(f"{_SIGNS[finding.status]:6}{finding.name:12}{first}", flush=True)
    for line in more:
        print(f"{'':18}{line}")
