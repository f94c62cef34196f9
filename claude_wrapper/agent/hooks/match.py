"""Whether a hook's matcher covers what an event is about."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["matches"]

_PLAIN = re.compile(r"[A-Za-z0-9_\- ,|]*")
_SPLIT = re.compile(r"[|,]")


def matches(matcher: str | None, subject: str | None) -> bool:
    """Whether `matcher` covers `subject`.

    None, nothing and `*` cover everything, and an event without a subject concerns every hook. A
    matcher of plain characters is a name or a list of names; any other is a regular expression
    that may hit anywhere. One that is no regular expression covers nothing.
    """
    if matcher is None or matcher in {"", "*"} or subject is None:
        return True
    if _PLAIN.fullmatch(matcher):
        return subject in [name.strip() for name in _SPLIT.split(matcher)]
    expression = _compiled(matcher)
    return expression is not None and expression.search(subject) is not None


@lru_cache(maxsize=256)
def _compiled(matcher: str) -> re.Pattern[str] | None:
    try:
        return re.compile(matcher)
    except re.error:
        return None
