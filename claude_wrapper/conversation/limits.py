"""How long and how large things may be in a conversation."""

from __future__ import annotations

import msgspec

from claude_wrapper.wire.framing import DEFAULT_LIMIT

from .strict_inbox import Strictness
from .watchdog import Patience

__all__ = ["Limits"]


class Limits(msgspec.Struct, frozen=True):
    """Bounds of a conversation, in seconds and bytes."""

    initialize: float = 60.0
    control: float | None = 60.0
    exit: float = 5.0
    """How long an agent may take to exit once it has nothing left to do."""
    max_frame_bytes: int = DEFAULT_LIMIT
    max_unread_bytes: int = 64 * 1024 * 1024
    patience: Patience = Patience()
    strictness: Strictness = Strictness()
