"""The permission state of the session while it runs: mode, rules, folders, and the changes to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import msgspec

from claude_wrapper.wire.permissions import PermissionMode, PermissionUpdateBody

from .permissions.policy import AddedDirectory, Policy
from .permissions.rules import Rule, RuleBehavior, Source, SourcedRule
from .settings_store import SettingsStore

__all__ = ["Access", "ModeRefusedError"]

MODES = tuple(sorted(get_args(PermissionMode)))
_BEHAVIORS = ("allow", "deny", "ask")
_SOURCES = ("userSettings", "projectSettings", "localSettings", "session", "cliArg")


class ModeRefusedError(Exception):
    """The mode cannot be entered; the text says why, and `code` in a word."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


class Access:
    """Holds the policy in force. `on_mode` is told of every new mode."""

    def __init__(self, policy: Policy, store: SettingsStore, on_mode: Callable[[str], None]) -> None:
        self.policy = policy
        self._store = store
        self._on_mode = on_mode
        self._before_plan: PermissionMode = "default"

    @property
    def mode(self) -> PermissionMode:
        """The mode in force."""
        return self.policy.mode

    def directories(self, cwd: Path) -> list[Path]:
        """The folders that the session works in."""
        original = Path(self.policy.original_cwd)
        own = [original] if cwd == original else [original, cwd]
        return own + [Path(each.path) for each in self.policy.directories]

    def check_mode(self, mode: str) -> PermissionMode:
        """The mode of this name, if it may be entered now; raises ModeRefusedError."""
        if mode == "manual":
            mode = "default"
        if mode not in MODES:
            raise ModeRefusedError(
                f"Cannot set permission mode: must be one of {', '.join(MODES)}", "invalid_mode"
            )
        if mode == "bypassPermissions" and not self.policy.bypass_available:
            raise ModeRefusedError(
                "Cannot set permission mode to bypassPermissions because the session was not launched with "
                "--dangerously-skip-permissions",
                "bypass_not_launched",
            )
        return cast("PermissionMode", mode)

    def set_mode(self, mode: str) -> None:
        """Enter a mode; raises ModeRefusedError."""
        checked = self.check_mode(mode)
        if checked == self.policy.mode:
            return
        if checked == "plan":
            self._before_plan = self.policy.mode
        self.policy = self.policy.changed(mode=checked)
        self._on_mode(checked)

    def leave_plan(self) -> None:
        """Go back to the mode that was in force before planning."""
        if self.policy.mode == "plan":
            self.set_mode(self._before_plan)

    def add_rules(self, texts: Iterable[str], behavior: RuleBehavior, source: Source) -> None:
        """Add rules given as text; those that can have no effect are left out."""
        self.policy, _ = self.policy.with_rules(texts, behavior, source)

    def apply(self, raw: Sequence[dict[str, Any]]) -> None:
        """Apply the updates of an answer; one that is malformed makes all of them void."""
        try:
            updates = msgspec.convert(list(raw), list[PermissionUpdateBody])
        except msgspec.ValidationError:
            return
        if not all(self._is_sound(update) for update in updates):
            return
        for update in updates:
            self._apply_one(update)
            self._store.keep(update)

    def _is_sound(self, update: PermissionUpdateBody) -> bool:
        if isinstance(update.destination, str) and update.destination not in _SOURCES:
            return False
        if update.type == "setMode":
            try:
                self.check_mode(str(update.mode))
            except ModeRefusedError:
                return False
            return True
        if update.type in {"addRules", "replaceRules", "removeRules"}:
            return isinstance(update.rules, list) and update.behavior in _BEHAVIORS
        return update.type in {"addDirectories", "removeDirectories"} and isinstance(update.directories, list)

    def _apply_one(self, update: PermissionUpdateBody) -> None:
        source = cast("Source", update.destination if isinstance(update.destination, str) else "session")
        if update.type == "setMode":
            self.set_mode(str(update.mode))
        elif isinstance(update.directories, list):
            self._change_directories(update.type, update.directories, source)
        elif isinstance(update.rules, list):
            behavior = cast("RuleBehavior", update.behavior)
            rules = [
                Rule(rule.tool_name, rule.rule_content if isinstance(rule.rule_content, str) else None)
                for rule in update.rules
            ]
            self._change_rules(update.type, rules, behavior, source)

    def _change_directories(self, kind: str, directories: list[str], source: Source) -> None:
        kept = [each for each in self.policy.directories if each.path not in directories]
        if kind == "addDirectories":
            kept += [AddedDirectory(path, source) for path in directories]
        self.policy = self.policy.changed(directories=tuple(kept))

    def _change_rules(self, kind: str, rules: list[Rule], behavior: RuleBehavior, source: Source) -> None:
        new = [SourcedRule(rule, behavior, source) for rule in rules]
        if kind == "removeRules":
            kept = [rule for rule in self.policy.rules if rule not in new]
        elif kind == "replaceRules":
            kept = [
                rule for rule in self.policy.rules if (rule.behavior, rule.source) != (behavior, source)
            ] + new
        else:
            kept = [rule for rule in self.policy.rules if rule not in new] + new
        self.policy = self.policy.changed(rules=tuple(kept))
