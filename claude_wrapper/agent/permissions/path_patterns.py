"""Path rules: the text of a Read(...) or Edit(...) rule against the names of a file."""

from __future__ import annotations

import re
from functools import lru_cache

from . import paths
from .ground import Ground
from .rules import SourcedRule


def covers(rule: SourcedRule, name: str, ground: Ground) -> bool:
    """Whether a path rule speaks of a file of this name; rules that refuse or ask ignore upper and lower case."""
    content = rule.rule.content
    if content is None:
        return True
    wide = rule.behavior != "allow"
    root, pattern, anchored = _anchored(content, rule, ground)
    matcher = _compiled(pattern, anchored or _starts_at_root(pattern, wide), wide)
    if matcher is None:
        return False
    return _matches(matcher, name, ground.names_of(root), wide)


def _anchored(content: str, rule: SourcedRule, ground: Ground) -> tuple[str, str, bool]:
    """The folder that the pattern starts from, the rest of it, and whether it is bound to that folder."""
    if content.startswith("//"):
        return "/", content[2:], True
    if content == "~" or content.startswith("~/"):
        return ground.home, content[2:], True
    if content.startswith("/"):
        return ground.policy.root_of(rule.source), content[1:], True
    while content.startswith("./"):
        content = content[2:]
    return ground.policy.original_cwd, content, False


def _starts_at_root(pattern: str, wide: bool) -> bool:
    """Whether an unanchored pattern is bound to its folder all the same, as in gitignore files."""
    inner = pattern.rstrip("/")
    if inner.endswith("/**") and "/" not in inner[:-3]:
        return not wide
    return "/" in inner


def _matches(matcher: re.Pattern[str], name: str, roots: tuple[str, ...], wide: bool) -> bool:
    for root in roots:
        full, base = (paths.folded(name), paths.folded(root)) if wide else (name, root)
        if paths.is_inside(full, base) and matcher.match(full[len(base) :].lstrip("/")):
            return True
    return False


@lru_cache(maxsize=512)
def _compiled(pattern: str, anchored: bool, wide: bool) -> re.Pattern[str] | None:
    """A pattern that also covers everything below what it names; None if it can cover nothing."""
    if pattern.startswith("!"):
        return None
    pattern = (paths.folded(pattern) if wide else pattern).rstrip("/")
    if pattern in {"", "**"}:
        return re.compile(r".*\Z", re.DOTALL)
    body = "".join(_piece(token) for token in _TOKENS.findall(pattern.removesuffix("/**")))
    try:
        return re.compile(f"{'' if anchored else '(?:.*/)?'}{body}(?:/.*)?\\Z", re.DOTALL)
    except re.error:
        return None


_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]|\\.|.", re.DOTALL)
_PIECES = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _piece(token: str) -> str:
    """One token of a pattern as a regular expression."""
    if token in _PIECES:
        return _PIECES[token]
    if len(token) > 2 and token.startswith("["):
        negated = token[1] in "!^"
        inside = token[2 if negated else 1 : -1].replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[{'^' if negated else ''}{inside}]"
    return re.escape(token[1:] if token.startswith("\\") and len(token) == 2 else token)
