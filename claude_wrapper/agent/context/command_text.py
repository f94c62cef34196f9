"""The text of a command with its arguments put in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

__all__ = ["filled_in", "shell_parts"]

_PLACE = re.compile(
    r"\\(?P<kept>\$)|\$\{(?P<variable>[A-Z_]+)\}|\$ARGUMENTS\[(?P<index>\d{1,4})\]|\$(?P<all>ARGUMENTS)\b"
    r"|\$(?P<number>\d{1,4})\b|\$(?P<name>[A-Za-z_]\w*)"
)
_SHELL = re.compile(r"(?:^|(?<=\s))!`([^`\n]+)`|^```!\s*\n(.*?)\n```", re.MULTILINE | re.DOTALL)


def shell_parts(text: str) -> list[tuple[str, str | None]]:
    """The text in pieces: each as it is written, with the shell command that it stands for or None."""
    parts: list[tuple[str, str | None]] = []
    at = 0
    for found in _SHELL.finditer(text):
        parts.append((text[at : found.start()], None))
        parts.append((found[0], found[1] or found[2]))
        at = found.end()
    return [*parts, (text[at:], None)]


def filled_in(
    text: str, arguments: str, names: Sequence[str], variables: Mapping[str, str]
) -> tuple[str, bool]:
    """The text with arguments in their places, and whether there was a place for any."""
    try:
        words = shlex.split(arguments)
    except ValueError:
        words = arguments.split()
    named = {name: words[at] if at < len(words) else "" for at, name in enumerate(names)}
    used = False

    def put(found: re.Match[str]) -> str:
        nonlocal used
        if found["kept"]:
            return "$"
        if found["variable"]:
            return variables.get(found["variable"], found[0])
        if found["all"]:
            used = True
            return arguments
        number = found["index"] or found["number"]
        if number is not None:
            if int(number) >= len(words):
                return found[0]
            used = True
            return words[int(number)]
        if found["name"] not in named:
            return found[0]
        used = True
        return named[found["name"]]

    return _PLACE.sub(put, text), used
