"""What one cell let us see, as JSON, before anything is normalised."""

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass
class RunSeen:
    """One start of the driver."""

    events: list[Row]
    """What the SDK's caller saw, in order."""
    processes: list[Row]
    """Agents that were started, and how they ended."""
    driver_code: int | None
    """None: it had to be stopped."""
    stderr: str
    cpu: float = 0.0
    """Seconds of the processor that the driver took, and all that it started."""

    @property
    def agents_cpu(self) -> float:
        """The part of them that went into agents."""
        return sum(row.get("cpu", 0.0) for row in self.processes)


@dataclass
class Observation:
    """One cell's whole play."""

    project: Path
    home: Path
    runs: list[RunSeen] = field(default_factory=list)
    requests: list[Row] = field(default_factory=list)
    """The requests for model replies, in order: `path`, `headers`, `body`."""
    web: list[Row] = field(default_factory=list)
    """What the web server beside the model was asked, in order."""
    files: dict[str, str] = field(default_factory=dict)
    """The project's, at the end."""
    transcripts: dict[str, list[Row]] = field(default_factory=dict)
    """The entries of each transcript in the home, by its path below the folder of all."""
    seconds: float = 0.0


def json_lines(path: Path) -> list[Row]:
    """The rows of a file of JSON lines; none when it was never made. A last line that a kill cut off is none."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].split("\n")[:-1]]


def transcripts(home: Path, known: Iterable[str] = ()) -> dict[str, list[Row]]:
    """Every transcript in the home: those that are `known` in that order, then the new ones, the oldest first."""
    folder = home / ".claude" / "projects"
    rows = {str(path.relative_to(folder)): json_lines(path) for path in folder.rglob("*.jsonl")}
    new = sorted(rows.keys() - set(known), key=lambda name: begun(rows[name]))
    return {name: rows[name] for name in [*known, *new] if name in rows}


def begun(rows: list[Row]) -> str:
    """When a transcript was begun, by the first of its entries that tells."""
    return next((str(row["timestamp"]) for row in rows if "timestamp" in row), "")


def tree(folder: Path) -> dict[str, str]:
    """Every file under `folder`: its text, or base64 when it is none; a link's target."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = content(path.read_bytes())
        elif path.is_dir() and not any(path.iterdir()):
            found[f"{name}/"] = ""
    return found


def content(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return base64.b64encode(data).decode()
