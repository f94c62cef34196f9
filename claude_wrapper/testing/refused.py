"""An address where nobody answers."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

__all__ = ["refused_url"]


@contextlib.contextmanager
def refused_url() -> Iterator[str]:
    """A base URL on loopback that refuses connections for as long as the context lasts."""
    # The port stays bound but does not listen, so no other program can come to answer there.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as placeholder:
        placeholder.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{placeholder.getsockname()[1]}"
