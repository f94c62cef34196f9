"""Which values the known settings take. Unknown settings are nobody's fault: newer programs read the same files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from claude_wrapper.wire.permissions import PermissionMode

__all__ = ["Complaint", "complaints"]

Complaint = tuple[tuple[str, ...], str]
"""The keys that lead to a value, and what it should be."""
_Check = Callable[[Any], str | None]

_HOOK_KINDS = {
    "agent": ("prompt",),
    "command": ("command",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
    "prompt": ("prompt",),
}
"""The kinds of hooks, and the texts that each needs."""
_MODES = frozenset({*get_args(PermissionMode), "manual"})


def _kind(wanted: type, words: str) -> _Check:
    def check(value: Any) -> str | None:
        return None if isinstance(value, wanted) else f"it has to be {words}"

    return check


def _one_of(known: frozenset[str]) -> _Check:
    def check(value: Any) -> str | None:
        if isinstance(value, str) and value in known:
            return None
        return "it has to be " + " or ".join(sorted(known))

    return check


def _texts(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return None
    return "it has to be a list of texts"


def _days(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return None
    return "it has to be a whole number above zero"


def _hooks(value: Any) -> str | None:
    """The hooks that guard calls: without them the rest of the file would allow more than was meant."""
    whole = isinstance(value, list) and all(
        isinstance(group, dict)
        and isinstance(group.get("matcher"), str | None)
        and isinstance(group.get("hooks"), list)
        and all(map(_is_hook, group["hooks"]))
        for group in value
    )
    return None if whole else "it has to be a list of matchers with their hooks"


def _is_hook(value: Any) -> bool:
    needed = _HOOK_KINDS.get(str(value.get("type"))) if isinstance(value, dict) else None
    if needed is None:
        return False
    timeout = value.get("timeout")
    timed = timeout is None or (
        isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout > 0
    )
    return timed and all(isinstance(value.get(key), str) for key in needed)


_text = _kind(str, "a text")
_switch = _kind(bool, "true or false")
_object = _kind(dict, "an object")
_list = _kind(list, "a list")

_CHECKS: dict[tuple[str, ...], _Check] = {
    ("permissions",): _object,
    ("permissions", "allow"): _list,
    ("permissions", "deny"): _list,
    ("permissions", "ask"): _list,
    ("permissions", "additionalDirectories"): _texts,
    ("permissions", "defaultMode"): _one_of(_MODES),
    ("permissions", "disableBypassPermissionsMode"): _one_of(frozenset({"disable"})),
    ("permissions", "disableAutoMode"): _one_of(frozenset({"disable"})),
    ("attribution",): _object,
    ("attribution", "commit"): _text,
    ("attribution", "pr"): _text,
    ("sandbox",): _object,
    ("sandbox", "enabled"): _switch,
    ("cleanupPeriodDays",): _days,
    ("hooks", "PermissionRequest"): _hooks,
    ("hooks", "PreToolUse"): _hooks,
    **{
        (name,): _text
        for name in (
            "$schema",
            "agent",
            "apiKeyHelper",
            "autoMemoryDirectory",
            "language",
            "model",
            "outputStyle",
            "plansDirectory",
        )
    },
    **{(name,): _texts for name in ("availableModels", "claudeMdExcludes", "fallbackModel")},
    **{(name,): _object for name in ("enabledPlugins", "env", "skillOverrides", "statusLine")},
    **{
        (name,): _switch
        for name in (
            "allowManagedHooksOnly",
            "allowManagedPermissionRulesOnly",
            "alwaysThinkingEnabled",
            "autoCompactEnabled",
            "autoMemoryEnabled",
            "disableAllHooks",
            "disableBundledSkills",
            "disableSkillShellExecution",
            "enableAllProjectMcpServers",
            "includeCoAuthoredBy",
            "includeGitInstructions",
            "spinnerTipsEnabled",
        )
    },
}


def complaints(values: dict[str, Any]) -> list[Complaint]:
    """What is wrong with settings, an object before what is in it."""
    found: list[Complaint] = []
    for keys, check in _CHECKS.items():
        holder: Any = values
        for key in keys[:-1]:
            holder = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and keys[-1] in holder:
            problem = check(holder[keys[-1]])
            if problem is not None:
                found.append((keys, problem))
    return found
