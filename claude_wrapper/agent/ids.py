"""New ids and timestamps, without the cost of the modules that usually make them."""

from __future__ import annotations

import os
import time

__all__ = ["new_uuid", "now_iso"]


def new_uuid() -> str:
    """A random UUID (version 4)."""
    h = os.urandom(16).hex()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) & 3]}{h[17:20]}-{h[20:]}"


def now_iso() -> str:
    """The time in UTC, to the millisecond."""
    now = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now * 1000) % 1000:03d}Z"
