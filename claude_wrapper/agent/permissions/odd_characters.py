"""Characters in a shell line that a reader does not see, or sees as something else."""

from __future__ import annotations

import unicodedata


def odd_characters(text: str) -> str | None:
    """Why the characters of a line are not to be trusted, or None."""
    for character in text:
        if character in " \t\n":
            continue
        if character.isspace() or unicodedata.category(character) in {
            "Cc",
            "Cf",
            "Zs",
            "Zl",
            "Zp",
            "Co",
            "Cn",
        }:
            return "it holds invisible characters"
    return None
