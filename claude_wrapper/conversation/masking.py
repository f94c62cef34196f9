"""Takes keys, tokens and passwords out of what is written down for a bug report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["MASK", "Mask"]

MASK = "***"

_SECRET_NAME = re.compile(
    r"(?i)(?:api|access|private|secret|signing|encryption|account|auth|session|client)[-_ ]?key"
    r"|token(?!s)|secret|passw(?:or)?d|passphrase|credential|authorization|cookie|bearer|(?:^|_)pat$|_dsn$"
)
"""Names, of fields and of variables, whose text nobody else should read."""

_SECRET_GROUPS = frozenset({"env", "headers", "environment", "variables"})
"""Objects whose values are masked whatever their names."""

_SECRET_TEXT = re.compile(
    r"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | \bsk-[A-Za-z0-9_-]{8,}
    | \b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|hf_|npm_|pypi-|AIza|ya29\.)[A-Za-z0-9_.-]{10,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
    | (?i:\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)
    """,
    re.VERBOSE | re.DOTALL,
)

_ASSIGNMENT = re.compile(
    r"""(?ix) \b ([a-z0-9_.-]*(?:api[-_]?key|access[-_]?key|token|secret|passw(?:or)?d|passphrase|credentials?))
        (["']? \s* (?:=|:) \s* ["']?) ([^\s"',;&]{4,})""",
)
"""`NAME=value`, `name: value` and their like, in commands, files and error texts."""

_SHORTEST = 6
"""Values of variables that are shorter are no secrets, and would mask half of all words."""


class Mask:
    """Masks what looks like a secret, and the values of the given variables whose names say that they are."""

    def __init__(self, variables: Iterable[Mapping[str, str]] = ()) -> None:
        known = {
            value
            for environ in variables
            for name, value in environ.items()
            if _SECRET_NAME.search(name) and len(value) >= _SHORTEST
        }
        longest_first = sorted(known, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if known else None

    def text(self, text: str) -> str:
        """Return a text without its secrets."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        text = _SECRET_TEXT.sub(MASK, text)
        return _ASSIGNMENT.sub(rf"\1\2{MASK}", text)

    def value(self, value: Any, *, secret: bool = False) -> Any:
        """Return a JSON value without its secrets; numbers, flags and null are none."""
        if isinstance(value, str):
            return MASK if secret and value else self.text(value)
        if isinstance(value, dict):
            return {
                self.text(name): self.value(item, secret=secret or _is_secret(name))
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self.value(item, secret=secret) for item in value]
        return value


def _is_secret(name: str) -> bool:
    return name.lower() in _SECRET_GROUPS or _SECRET_NAME.search(name) is not None
