"""Keeps plays of reference cells from run to run, for one who works on ours and asks for it; nobody else reads them.

A play is kept under everything that it depends on: the peers' versions, the scenario's files, and the suite itself.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from interop_kit.peers import PINS
from interop_kit.scenario import FOLDER

VARIABLE = "CLAUDE_WRAPPER_REFERENCES"
SUITE = Path(__file__).parents[1]


class Kept:
    """A folder of records; without one nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._suite = suite_digest() if folder else ""

    def path(self, scenario: str, cell: str) -> Path | None:
        """Where the record of this play lies, or would lie."""
        if self._folder is None:
            return None
        digest = hashlib.sha256(self._suite.encode())
        for suffix in (".json", ".driver.json"):
            digest.update((FOLDER / f"{scenario}{suffix}").read_bytes())
        return self._folder / f"{scenario}.{cell}.{digest.hexdigest()[:16]}.json"

    def read(self, scenario: str, cell: str) -> dict[str, Any] | None:
        path = self.path(scenario, cell)
        if path is None or not path.exists():
            return None
        record: dict[str, Any] = json.loads(path.read_text())
        return record

    def write(self, scenario: str, cell: str, record: dict[str, Any]) -> None:
        path = self.path(scenario, cell)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"{path.name}.{os.getpid()}")
            unfinished.write_text(json.dumps(record))
            unfinished.replace(path)


def kept() -> Kept:
    """The folder that the environment names, if it names one."""
    folder = os.environ.get(VARIABLE)
    return Kept(Path(folder) if folder else None)


def suite_digest() -> str:
    """What decides how plays come out, apart from scenarios: the peers, the kit, the drivers."""
    digest = hashlib.sha256(json.dumps(PINS, sort_keys=True).encode())
    for path in sorted([*SUITE.glob("interop_kit/*.py"), *SUITE.glob("drivers/*.*")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()
