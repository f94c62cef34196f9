"""The message by which the model hears of the end of a task."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["notification"]


def notification(fields: Iterable[tuple[str, str]]) -> str:
    """The message with these fields, in their order."""
    lines = [f"<{name}>{text}</{name}>" for name, text in fields]
    return "\n".join(["<task-notification>", *lines, "</task-notification>"])
