"""Which events there are, and whether a hook's matcher covers what an event is about."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["EVENTS", "is_plain", "matches"]

EVENTS = frozenset(
    {
        *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest"),
        *("PermissionDenied", "UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd"),
        *("Setup", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact"),
        *("Notification", "InstructionsLoaded", "TaskCreated", "TaskCompleted", "TeammateIdle"),
        *("CwdChanged", "FileChanged", "DirectoryAdded", "ConfigChange", "WorktreeCreate"),
        *("WorktreeRemove", "MessageDisplay", "Elicitation", "ElicitationResult", "PreModelSwitch"),
        *("PostModelSwitch", "PreSkillShellCommand"),
    }
)
"""Every event that hooks may be registered for (as of November 2026)."""

_PLAIN = re.compile(r"[A-Za-z0-9_\- ,|]*")
_PLAINER = re.compile(r"[A-Za-z0-9_|]*")
_PLAINER_EVENTS = frozenset({"FileChanged", "StopFailure"})
_OF_CALLS = frozenset(
    {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"}
)
_FORMERLY = {"Agent": "Task"}
"""What tools were called once, when matchers were written that are still there."""
_SPLIT = re.compile(r"[|,]")


def is_plain(event: str, matcher: str) -> bool:
    """Whether a matcher is a name or a list of names; what is not is a regular expression."""
    return (_PLAINER if event in _PLAINER_EVENTS else _PLAIN).fullmatch(matcher) is not None


def matches(matcher: str | None, subject: str | None, event: str = "") -> bool:
    """Whether `matcher` covers `subject`.

    None, nothing and `*` cover everything, and an event without a subject concerns every hook. A
    matcher of plain characters is a name or a list of names; any other is a regular expression
    that may hit anywhere. One that is no regular expression covers nothing. A tool is known by the name
    that it had once, too.
    """
    if matcher is None or matcher in {"", "*"} or subject is None:
        return True
    names = [subject]
    if event in _OF_CALLS and subject in _FORMERLY:
        names.append(_FORMERLY[subject])
    if is_plain(event, matcher):
        listed = [name.strip() for name in _SPLIT.split(matcher)]
        return any(name in listed for name in names)
    expression = _compiled(matcher)
    return expression is not None and any(expression.search(name) for name in names)


@lru_cache(maxsize=256)
def _compiled(matcher: str) -> re.Pattern[str] | None:
    try:
        return re.compile(matcher)
    except re.error:
        return None
