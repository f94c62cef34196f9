"""What the command `doctor` found in one place: good, doubtful or bad, in a sentence and in fields."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["Finding", "Status"]

Status = Literal["ok", "note", "warning", "fault"]
"""A fault keeps runs from working; a warning may; a note is there to be known."""


class Finding(msgspec.Struct, frozen=True):
    """One line of the report."""

    name: str
    status: Status
    text: str
    details: dict[str, Any] = {}
