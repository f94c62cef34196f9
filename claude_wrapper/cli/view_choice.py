"""Which view a run is shown in."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from .view import View

__all__ = ["json_view", "text_view"]


def text_view(*, quiet: bool = False, all_to_stdout: bool = False) -> View:
    """Return the view for people: live on a terminal, plain lines elsewhere."""
    if not quiet and _can_be_live():
        from .live_view import LiveView  # noqa: PLC0415  # rich takes its time, and may not be installed

        return LiveView(sys.stdout)
    from .plain_view import PlainView  # noqa: PLC0415  # what is not used is not loaded

    progress = sys.stdout if all_to_stdout else sys.stderr
    return PlainView(sys.stdout, None if quiet else progress)


def json_view(*, everything: bool) -> View:
    """Return the view for programs: the result, or every message, as JSON."""
    from .json_view import JsonView  # noqa: PLC0415  # what is not used is not loaded

    return JsonView(sys.stdout.buffer, everything=everything)


def _can_be_live() -> bool:
    """Whether stdout is a terminal that can be written over, and rich is there to do it."""
    kind = os.environ.get("TERM", "" if os.name == "posix" else "windows")
    return sys.stdout.isatty() and kind not in {"", "dumb", "unknown"} and find_spec("rich") is not None
