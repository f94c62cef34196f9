"""Whether files that rules refuse lie below a folder, for commands that take whole folders."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .files import path_rule
from .ground import Ground
from .rules import RuleBehavior

_MOST_FILES = 2_000
_REFUSING: tuple[RuleBehavior, ...] = ("deny", "ask")


def refuses_below(folder: str, tool: str, ground: Ground) -> bool:
    """Whether a rule of this tool (Read, Edit) refuses something below; also if there is too much to look at."""
    wanted = [behavior for behavior in _REFUSING if _has_rules(behavior, tool, ground)]
    if not wanted:
        return False
    for count, path in enumerate(_walk(folder)):
        if count >= _MOST_FILES:
            return True
        names = ground.names_of(path)
        if any(path_rule(behavior, (tool,), names, ground) is not None for behavior in wanted):
            return True
    return False


def _has_rules(behavior: RuleBehavior, tool: str, ground: Ground) -> bool:
    return any(rule.rule.tool == tool and rule.rule.content for rule in ground.policy.of(behavior))


def _walk(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield os.path.join(parent, name)  # noqa: PTH118 - paths are texts here
