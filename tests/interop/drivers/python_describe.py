"""Turns what an SDK hands to its caller into JSON, class names kept."""

import dataclasses
import json
from pathlib import Path
from typing import Any

PLAIN = (str, int, float, bool, type(None))
FAULT_FIELDS = (
    "exit_code",
    "subtype",
    "errors",
    "result",
    "api_error_status",
    "terminal_reason",
    "session_id",
)


def described(value: Any) -> Any:
    """JSON for `value`: a dataclass instance becomes its class name and its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: described(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"class": type(value).__name__, **fields}
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, dict):
        return {str(key): described(item) for key, item in value.items()}
    return value if isinstance(value, PLAIN) else f"<{type(value).__name__}>"


def described_fault(fault: BaseException) -> dict[str, Any]:
    """The classes an `except` clause could name, nearest first, the text, and the public fields."""
    row: dict[str, Any] = {
        "mro": [cls.__name__ for cls in type(fault).__mro__ if cls is not object],
        "text": str(fault)[:2000],
    }
    for name in FAULT_FIELDS if "ProcessError" in row["mro"] else ():
        value = getattr(fault, name, None)
        if isinstance(value, (*PLAIN, list)):
            row[name] = value
    return row


class Notebook:
    """The file of events, one JSON line each, in the order in which they were seen."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("a", encoding="utf-8")  # noqa: SIM115  # lives as long as the program

    def put(self, kind: str, row: Any) -> None:
        self._file.write(json.dumps({"kind": kind, kind: row}) + "\n")
        self._file.flush()

    def fault(self, where: str, fault: BaseException) -> None:
        self.put("raise", {"where": where, **described_fault(fault)})
