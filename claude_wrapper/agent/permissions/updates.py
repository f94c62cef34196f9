"""Changes that a host's answer or a hook makes to the permission state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from msgspec import UNSET

from claude_wrapper.wire.permissions import PermissionMode, PermissionUpdateBody, RuleBody

from . import paths
from .policy import AddedDirectory, Policy
from .rules import Rule, RuleBehavior, RuleProblem, Source, SourcedRule, parse_rules

_MODES: tuple[PermissionMode, ...] = get_args(PermissionMode)
_BEHAVIORS: tuple[RuleBehavior, ...] = get_args(RuleBehavior)
_DESTINATIONS: tuple[Source, ...] = ("session", "localSettings", "projectSettings", "userSettings", "cliArg")
_RULE_CHANGES = frozenset({"addRules", "replaceRules", "removeRules"})
_FOLDER_CHANGES = frozenset({"addDirectories", "removeDirectories"})


def apply_updates(policy: Policy, updates: Iterable[PermissionUpdateBody]) -> tuple[Policy, list[str]]:
    """The policy after all updates, and what was wrong; one that is malformed undoes all of them."""
    changed, problems = policy, []
    for update in updates:
        fault = _fault(update)
        if fault is not None:
            return policy, [fault]
        changed, found = _applied(changed, update)
        problems.extend(found)
    return changed, problems


def rule_texts(update: PermissionUpdateBody) -> list[str]:
    """The rules of an update as they are written in settings files."""
    return [str(_rule(body)) for body in update.rules or ()]


def write_into(permissions: dict[str, Any], update: PermissionUpdateBody) -> None:
    """Change the permissions of a settings file as an update says."""
    if update.type == "setMode":
        permissions["defaultMode"] = update.mode
        return
    if update.type.endswith("Directories"):
        key, given = "additionalDirectories", list(update.directories or ())
    else:
        key, given = str(update.behavior), rule_texts(update)
    present = permissions.get(key)
    listed = [item for item in present if isinstance(item, str)] if isinstance(present, list) else []
    if update.type.startswith("remove"):
        permissions[key] = [item for item in listed if item not in given]
    elif update.type == "replaceRules":
        permissions[key] = given
    else:
        permissions[key] = list(dict.fromkeys((*listed, *given)))


def _fault(update: PermissionUpdateBody) -> str | None:
    """Why an update cannot be understood, or None."""
    if update.destination not in _DESTINATIONS:
        return f"unknown destination {update.destination!r}"
    if update.type in _RULE_CHANGES:
        complete = update.rules is not UNSET and update.behavior in _BEHAVIORS
        return None if complete else f"{update.type} needs rules and a behavior"
    if update.type in _FOLDER_CHANGES:
        return None if update.directories is not UNSET else f"{update.type} needs directories"
    if update.type == "setMode":
        return None if update.mode in _MODES else f"unknown mode {update.mode!r}"
    return f"unknown update {update.type!r}"


def _applied(policy: Policy, update: PermissionUpdateBody) -> tuple[Policy, list[str]]:
    source: Source = next((known for known in _DESTINATIONS if known == update.destination), _DESTINATIONS[0])
    if update.type in _RULE_CHANGES:
        return _with_rules(policy, update, source)
    if update.type == "setMode":
        return _with_mode(policy, update)
    return _with_folders(policy, update, source), []


def _with_rules(policy: Policy, update: PermissionUpdateBody, source: Source) -> tuple[Policy, list[str]]:
    if policy.managed_only:
        return policy, ["only managed settings may hold permission rules here"]
    behavior = next(known for known in _BEHAVIORS if known == update.behavior)
    rules, problems = parse_rules(rule_texts(update), behavior, source)
    kept = policy.rules
    if update.type == "removeRules":
        gone = {_rule(body) for body in update.rules or ()} | {rule.rule for rule in rules}
        kept = tuple(rule for rule in kept if not (_is_of(rule, behavior, source) and rule.rule in gone))
        return policy.changed(rules=kept), []
    if update.type == "replaceRules":
        kept = tuple(rule for rule in kept if not _is_of(rule, behavior, source))
    new = tuple(rule for rule in dict.fromkeys(rules) if rule not in kept)
    return policy.changed(rules=(*kept, *new)), [_told(problem) for problem in problems]


def _with_mode(policy: Policy, update: PermissionUpdateBody) -> tuple[Policy, list[str]]:
    mode = next(known for known in _MODES if known == update.mode)
    if mode == "bypassPermissions" and policy.bypass_disabled:
        return policy, ["bypassPermissions is disabled by settings"]
    if mode == "auto" and policy.auto_disabled:
        return policy, ["auto is disabled by settings"]
    if mode == "bypassPermissions" and not policy.bypass_available:
        return policy, ["bypassPermissions was not made available when this session was started"]
    return policy.changed(mode=mode), []


def _with_folders(policy: Policy, update: PermissionUpdateBody, source: Source) -> Policy:
    named = [paths.absolute(path, policy.original_cwd, policy.home) for path in update.directories or ()]
    kept = tuple(
        folder for folder in policy.directories if not (folder.path in named and folder.source == source)
    )
    if update.type == "removeDirectories":
        return policy.changed(directories=kept)
    added = tuple(AddedDirectory(path, source) for path in dict.fromkeys(named))
    return policy.changed(directories=(*kept, *added))


def _is_of(rule: SourcedRule, behavior: RuleBehavior, source: Source) -> bool:
    return rule.behavior == behavior and rule.source == source


def _rule(body: RuleBody) -> Rule:
    return Rule(body.tool_name, None if body.rule_content is UNSET else body.rule_content)


def _told(problem: RuleProblem) -> str:
    return f"{problem.text}: {problem.problem}"
