"""The names of subcommands: what is no prompt, though it is a word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .foreign_flags import BY_NAME

__all__ = ["SUBCOMMANDS", "nearly_subcommand", "subcommand_at"]

SUBCOMMANDS = (
    "agents",
    "auth",
    "doctor",
    "install",
    "mcp",
    "plugin",
    "plugins",
    "purge",
    "setup-token",
    "update",
    "upgrade",
)
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_ALIKE = 0.65


def subcommand_at(argv: Sequence[str]) -> int | None:
    """Where a command line names a subcommand: its first word, unless print mode makes a prompt of it."""
    at = 0
    while at < len(argv) and argv[at].startswith("-"):
        name, joined, _ = argv[at].partition("=")
        flag = BY_NAME.get(name)
        if flag is None or flag.field == "print_mode" or flag.kind not in {"switch", "value"}:
            return None
        at += 1 if joined or flag.kind == "switch" else 2
    return at if at < len(argv) and argv[at] in SUBCOMMANDS else None


def nearly_subcommand(word: str) -> str | None:
    """The subcommand that a word was probably meant to be."""
    if not _WORD.fullmatch(word):
        return None
    import difflib  # noqa: PLC0415  # start-up: only a single word without print mode needs it

    near = difflib.get_close_matches(word, SUBCOMMANDS, n=1, cutoff=_ALIKE)
    return near[0] if near else None
