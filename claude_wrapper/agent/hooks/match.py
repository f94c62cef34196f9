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
_SPLIT = re.compile(r"[|,]")


def is_plain(event: str, matcher: str) -> bool:
    """Whether a matcher is a name or a list of names; what is not is a regular expression."""
    return (_PLAINER if event in _PLAINER_EVENTS else _PLAIN).fullmatch(matcher) is not None


def matches(matcher: str | None, subject: str | None, event: str = "") -> bool:
    """Whether `matcher` covers `subject`.

    None, nothing and `*` cover everything, and an event without a subject concerns every hook. A
    matcher of plain characters is a name or a list of names; any other is a regular expression
    that may hit anywhere. One that is no regular expression covers nothing.
    """
    if matcher is None or matcher in {"", "*"} or subject is None:
        return True
    if is_plain(event, matcher):
        return subject in [name.strip() for name in _SPLIT.split(matcher)]
    expression = _compiled(matcher)
    return expression is not None and expression.search(subject) is not None


@lru_cache(maxsize=256)
def _compiled(matcher: str) -> re.Pattern[str] | None:
    try:
        return re.compile(matcher)
    except re.error:
        return None
