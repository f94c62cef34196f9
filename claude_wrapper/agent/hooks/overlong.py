"""Texts of hooks that are too long for the conversation: their beginning stays, the whole goes to a file."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["shortened"]

_LONGEST = 10_000
_PREVIEW = 2_000


def shortened(text: str, folder: Path) -> str:
    """The text, or what is shown of a long one, with the file in `folder` that has all of it."""
    if len(text) <= _LONGEST:
        return text
    path = folder / f"hook-{os.urandom(8).hex()}.txt"
    kept = "it could not be kept"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        kept = f"all of it is in {path}"
    return f"{text[:_PREVIEW]}\n... [a hook said {len(text)} characters; {kept}]"
