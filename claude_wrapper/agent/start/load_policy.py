"""The permission state in which a run starts: mode, rules and folders of all sources."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import msgspec

from claude_wrapper.agent.config.access import MODES
from claude_wrapper.agent.config.faults import Fault
from claude_wrapper.agent.config.file import BEHAVIORS, SettingsFile
from claude_wrapper.agent.config.known_tools import unknown_tool
from claude_wrapper.agent.config.merged import in_force, managed_only
from claude_wrapper.agent.permissions.policy import AddedDirectory, Policy
from claude_wrapper.agent.permissions.rules import RuleBehavior, Source, parse_rules
from claude_wrapper.store.paths import home_dir
from claude_wrapper.wire.permissions import PermissionMode

from .cli import Arguments, UsageError

__all__ = ["PolicyFaults", "load_policy", "with_sources"]

_ROOT_REFUSED = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"
_MANAGED_ONLY = "allowManagedPermissionRulesOnly"
_NOT_FROM_A_FOLDER = frozenset({"auto", "bypassPermissions"})
"""Modes that the files of a project cannot start a session in."""


class PolicyFaults(msgspec.Struct):
    """What the user is told of what has no effect."""

    rules: list[str] = msgspec.field(default_factory=list)
    """Of rules in settings that are none."""
    unknown: list[str] = msgspec.field(default_factory=list)
    """Of rules in settings about tools that are not there."""
    flags: list[str] = msgspec.field(default_factory=list)
    """Of rules on the command line that are none."""
    folders: list[str] = msgspec.field(default_factory=list)


def load_policy(
    arguments: Arguments, files: list[SettingsFile], environ: Mapping[str, str], cwd: Path
) -> tuple[Policy, PolicyFaults]:
    """The policy, and what of it has no effect."""
    mode, bypass = _mode(arguments, files, environ)
    policy = Policy(
        mode=mode,
        original_cwd=str(cwd),
        home=str(home_dir(environ)),
        bypass_available=bypass,
        restricted=arguments.has("restricted"),
    )
    return with_sources(policy, arguments, files)


def with_sources(
    policy: Policy, arguments: Arguments, files: list[SettingsFile]
) -> tuple[Policy, PolicyFaults]:
    """A policy with the rules, folders and limits of all sources and no others."""
    told = PolicyFaults()
    folders = _directories(arguments, files, Path(policy.original_cwd), policy.home, told.folders)
    policy = policy.changed(
        rules=(),
        directories=tuple(folders),
        roots={each.source: str(each.root) for each in files if each.root is not None},
        bypass_disabled=_disabled(files, "disableBypassPermissionsMode"),
        auto_disabled=_disabled(files, "disableAutoMode"),
        managed_only=managed_only(files, _MANAGED_ONLY),
    )
    for behavior in BEHAVIORS:
        for each in in_force(files, _MANAGED_ONLY):
            policy = _with_rules_of(policy, each, behavior, told)
    if policy.managed_only:
        return policy, told
    given: tuple[tuple[str, str, RuleBehavior], ...] = (
        ("--allowedTools", "allowed_tools", "allow"),
        ("--disallowedTools", "disallowed_tools", "deny"),
    )
    for flag, name, behavior in given:
        texts = arguments.list(name)
        policy, _ = policy.with_rules(texts, behavior, "cliArg")
        for _, problem, is_none in _problems(texts, behavior, "cliArg"):
            (told.flags if is_none else told.unknown).append(str(Fault(flag, problem)))
    return policy, told


def _with_rules_of(policy: Policy, file: SettingsFile, behavior: RuleBehavior, told: PolicyFaults) -> Policy:
    texts = file.rules(behavior)
    policy, _ = policy.with_rules(texts, behavior, file.source)
    key = f"permissions.{behavior}"
    strangers = file.strangers(behavior)
    if strangers:
        told.rules.append(str(Fault(file.place, f"{strangers} of its rules are no texts", key)))
    for text, problem, is_none in _problems(texts, behavior, file.source):
        line = file.line(("permissions", behavior), text)
        (told.rules if is_none else told.unknown).append(str(Fault(file.place, problem, key, line)))
    return policy


def _problems(texts: list[str], behavior: RuleBehavior, source: Source) -> list[tuple[str, str, bool]]:
    """The rules that decide nothing, why, and whether they are no rules at all."""
    rules, problems = parse_rules(texts, behavior, source)
    found = [(each.text, each.problem, True) for each in problems]
    for each in rules:
        unknown = unknown_tool(each.rule)
        if unknown is not None:
            # The names of tools begin with a capital letter.
            found.append((str(each.rule), unknown, each.rule.tool[:1].islower()))
    return [
        (text, f"the rule {text!r} has no effect: {problem}", no_rule) for text, problem, no_rule in found
    ]


def _directories(
    arguments: Arguments, files: list[SettingsFile], cwd: Path, home: str, told: list[str]
) -> list[AddedDirectory]:
    """The folders to work in beside the current one. Those of settings need not be there."""
    added: list[AddedDirectory] = []
    for path in arguments.list("add_dirs"):
        folder = cwd / Path(path).expanduser()
        if folder.is_dir():
            added.append(AddedDirectory(str(folder), "cliArg"))
        else:
            told.append(f"--add-dir: there is no folder {folder}")
    for each in files:
        for path in each.directories():
            written = home + path[1:] if path == "~" or path.startswith("~/") else path
            folder = cwd / written
            if folder.is_dir():
                added.append(AddedDirectory(str(folder), each.source))
    return [each for each in added if each.path != str(cwd)]


def _mode(
    arguments: Arguments, files: list[SettingsFile], environ: Mapping[str, str]
) -> tuple[PermissionMode, bool]:
    """The mode to start in, and whether bypassing everything is open to this run."""
    mode = arguments.value("permission_mode")
    if arguments.has("skip_permissions"):
        mode = "bypassPermissions"
    if mode is None:
        mode = _default_mode(files)
    if mode == "manual" or mode not in MODES:
        mode = "default"
    bypass = mode == "bypassPermissions" or arguments.has("allow_skip_permissions")
    if bypass and arguments.has("restricted"):
        raise UsageError("bypassPermissions not supported in restricted mode")
    if bypass and _is_root(environ):
        raise UsageError(_ROOT_REFUSED, plain=True)
    if _disabled(files, "disableBypassPermissionsMode"):
        bypass = False
        mode = "default" if mode == "bypassPermissions" else mode
    if mode == "auto" and _disabled(files, "disableAutoMode"):
        mode = "default"
    return cast("PermissionMode", mode), bypass


def _default_mode(files: list[SettingsFile]) -> str | None:
    """The mode that settings name, the highest source's."""
    mode = None
    for each in files:
        named = each.permission("defaultMode")
        in_folder = each.source in {"projectSettings", "localSettings"}
        if named is not None and not (in_folder and named in _NOT_FROM_A_FOLDER):
            mode = named
    return mode


def _disabled(files: list[SettingsFile], name: str) -> bool:
    """Whether any source takes a mode away; none can give it back."""
    return any(each.permission(name) == "disable" for each in files)


def _is_root(environ: Mapping[str, str]) -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and environ.get("IS_SANDBOX") not in {"1", "true"}
