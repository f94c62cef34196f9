"""New ids and timestamps, without the cost of the modules that usually make them."""

from __future__ import annotations

import time

from claude_wrapper.wire.ids import new_uuid

__all__ = ["new_uuid", "now_iso"]


def now_iso() -> str:
    """The time in UTC, to the millisecond."""
    now = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
