"""What this program itself has to say on stderr."""

from __future__ import annotations

import sys
from contextlib import suppress

__all__ = ["error"]


def error(text: str) -> None:
    """Tell the user what went wrong, after all that stands on stdout."""
    with suppress(OSError):  # what cannot be written there is no reason to say less here
        sys.stdout.flush()
    print(f"claude-wrapper: {text}", file=sys.stderr, flush=True)
