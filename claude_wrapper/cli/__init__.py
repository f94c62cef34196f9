"""The command line `claude-wrapper`. Importing it loads nothing but this file; see `exits` for the exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (None: that of the process) and return its exit code."""
    from .console import guarded  # noqa: PLC0415  # start-up: whoever imports this module may never call it

    return guarded(argv)
