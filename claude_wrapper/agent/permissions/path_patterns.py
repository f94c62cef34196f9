"""Path rules: the text of a Read(...) or Edit(...) rule against the names of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
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


def literal_places(rule: SourcedRule, ground: Ground) -> tuple[str, ...]:
    """The paths that a rule without wildcards speaks of, with what lies below them."""
    content = rule.rule.content
    if content is None:
        return ()
    root, pattern, _ = _anchored(content, rule, ground)
    inner = pattern.rstrip("/").removesuffix("/**").rstrip("/")
    if not inner or inner.startswith("!") or paths.GLOB_CHARACTERS.intersection(inner) or "\\" in inner:
        return ()
    return tuple(paths.joined(each, inner) for each in ground.names_of(root))


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


def _matches(matcher: PathPattern, name: str, roots: tuple[str, ...], wide: bool) -> bool:
    for root in roots:
        full, base = (paths.folded(name), paths.folded(root)) if wide else (name, root)
        if paths.is_inside(full, base) and matcher.match(full[len(base) :].lstrip("/")):
            return True
    return False


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern as tokens; it also covers everything below what it names.

    All ways to match are followed at once, so that no pattern takes longer than its length times the path's.
    """

    tokens: tuple[str | re.Pattern[str], ...]
    anchored: bool

    def match(self, path: str) -> bool:
        """Whether the pattern covers the path, which is given from the pattern's folder on."""
        slashes = [at for at, character in enumerate(path) if character == "/"]
        reached = {0} if self.anchored else {0, *(at + 1 for at in slashes)}
        for piece in self.tokens:
            if not reached:
                return False
            reached = _after(piece, path, reached, slashes)
        return any(at == len(path) or path[at] == "/" for at in reached)


def _after(piece: str | re.Pattern[str], path: str, reached: set[int], slashes: list[int]) -> set[int]:
    """Where in the path one may be behind a piece."""
    first = min(reached)
    if piece == "**":
        return set(range(first, len(path) + 1))
    if piece == "**/":
        return reached | {at + 1 for at in slashes if at >= first}
    if piece == "*":
        ends: set[int] = set()
        for at in sorted(reached):
            if at not in ends:
                end = path.find("/", at)
                ends.update(range(at, (len(path) if end < 0 else end) + 1))
        return ends
    if isinstance(piece, str):
        return {at + len(piece) for at in reached if path.startswith(piece, at)}
    return {at + 1 for at in reached if piece.match(path, at)}


@lru_cache(maxsize=512)
def _compiled(pattern: str, anchored: bool, wide: bool) -> PathPattern | None:
    """The pattern, read; None if it can cover nothing."""
    if pattern.startswith("!"):
        return None
    pattern = (paths.folded(pattern) if wide else pattern).rstrip("/")
    if pattern in {"", "**"}:
        return PathPattern(("**",), anchored=True)
    try:
        tokens = tuple(map(_token, _TOKENS.findall(pattern.removesuffix("/**"))))
    except re.error:
        return None
    return PathPattern(tokens, anchored)


_TOKENS = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]|\\.|.", re.DOTALL)


def _token(piece: str) -> str | re.Pattern[str]:
    """One piece: a star of one of the kinds, a character, or what one character has to be."""
    if piece == "?":
        return re.compile("[^/]")
    if len(piece) > 2 and piece.startswith("["):
        negated = piece[1] in "!^"
        inside = piece[2 if negated else 1 : -1].replace("\\", "\\\\").replace("[", "\\[")
        return re.compile(f"(?!/)[{'^' if negated else ''}{inside}]", re.DOTALL)
    if len(piece) == 2 and piece.startswith("\\"):
        return re.compile(re.escape(piece[1:]), re.DOTALL)  # meant as it stands, even a star
    return piece
