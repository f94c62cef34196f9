"""New ids for frames, without the cost of importing the `uuid` module."""

from __future__ import annotations

import os

__all__ = ["new_uuid"]


def new_uuid() -> str:
    """Return a random UUID (version 4)."""
    h = os.urandom(16).hex()
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) & 3]}{h[17:20]}-{h[20:]}"
