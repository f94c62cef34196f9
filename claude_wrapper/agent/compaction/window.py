"""How full the model's window may become before room is made, by flags, variables and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from claude_wrapper.agent.api.catalog import Model
from claude_wrapper.agent.api.switches import is_on
from claude_wrapper.agent.start.settings import Settings

__all__ = ["Window", "window_of"]

_LEAST_WINDOW = 100_000
_MOST_RESERVED = 20_000
"""Tokens that are left free for a reply at most."""
_AUTO_MARGIN = 13_000
_LAST_MARGIN = 3_000
_WHOLE = 100


class Window(msgspec.Struct, frozen=True):
    """Where the limits are, in tokens."""

    size: int
    automatic: bool
    """Room is made without being asked for; at the latest when the API says that a request is too long."""
    threshold: int
    """Of a conversation this long the older part is summed up."""
    chosen: bool
    """Somebody chose the window. If not, it is the model's, and the API says when it is full."""
    last: int
    """Where no room is made, a conversation this long goes no further."""

    @property
    def buffer(self) -> int:
        """Tokens at the end of the window that are known to stay free."""
        if not self.automatic:
            return _LAST_MARGIN
        return self.size - self.threshold if self.chosen else 0


def window_of(settings: Settings, model: Model, max_output: int) -> Window:
    """The limits for a model that may say so many tokens at once."""
    environ = settings.environ
    chosen = _chosen(environ, settings.compact_window, settings.values.get("autoCompactWindow"))
    size = min(chosen or model.context_window, model.context_window)
    reserved = min(max_output, _MOST_RESERVED)
    usable = size - reserved
    share = _share(environ)
    margin = usable - _AUTO_MARGIN
    return Window(
        size=size,
        automatic=not (
            is_on(environ, "DISABLE_COMPACT")
            or is_on(environ, "DISABLE_AUTO_COMPACT")
            or settings.values.get("autoCompactEnabled") is False
        ),
        threshold=margin if share is None else min(margin, int(usable * share / _WHOLE)),
        chosen=chosen is not None,
        last=model.context_window - reserved - _LAST_MARGIN,
    )


def _chosen(environ: Mapping[str, str], by_flag: int | None, by_settings: Any) -> int | None:
    """The window that somebody chose: a variable goes before the flag, and that before settings."""
    text = environ.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "").strip()
    if text.isascii() and text.isdigit() and int(text):
        return max(int(text), _LEAST_WINDOW)
    if by_flag is not None:
        return by_flag or None
    return by_settings if isinstance(by_settings, int) and by_settings >= _LEAST_WINDOW else None


def _share(environ: Mapping[str, str]) -> float | None:
    """The percentage of the window at which room is made; it can only make it happen sooner."""
    try:
        share = float(environ.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", ""))
    except ValueError:
        return None
    return share if 0 < share <= _WHOLE else None
