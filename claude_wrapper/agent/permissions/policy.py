"""The permission state of a session at one moment, immutable."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from claude_wrapper.wire.permissions import PermissionMode

from .rules import RuleBehavior, RuleProblem, Source, SourcedRule, parse_rules


@dataclass(frozen=True, slots=True)
class AddedDirectory:
    """A folder beside the current one in which the agent may work, and who added it."""

    path: str
    source: Source = "session"


@dataclass(frozen=True, slots=True)
class Policy:
    """Mode, rules and folders; every change makes a new one."""

    mode: PermissionMode = "default"
    rules: tuple[SourcedRule, ...] = ()
    directories: tuple[AddedDirectory, ...] = ()
    original_cwd: str = field(default_factory=os.getcwd)
    home: str = field(default_factory=lambda: str(Path.home()))
    roots: Mapping[Source, str] = field(default_factory=dict)
    """Folder that a leading `/` of a path rule means, by the rule's source; else `original_cwd`."""
    bypass_available: bool = False
    """Whether bypassPermissions was made available at launch, so that it may be entered later."""
    bypass_disabled: bool = False
    """Settings forbid bypassPermissions, whatever the launch said."""
    auto_disabled: bool = False
    """Settings forbid auto."""
    plan_file: str | None = None
    """The file that may be written in plan mode."""
    own_folders: tuple[str, ...] = ()
    """Folders in which the session itself puts down what the model is to read."""
    managed_only: bool = False
    """Only the administrator's rules count; nobody adds others."""
    restricted: bool = False
    """File tools stay in the working folders, and only a person approves changes to what steers tools."""

    @property
    def accepts_edits(self) -> bool:
        """Whether simple changes of files in the working folders need no approval."""
        return self.mode in {"acceptEdits", "auto"}

    def of(self, behavior: RuleBehavior) -> tuple[SourcedRule, ...]:
        """The rules that do this."""
        return tuple(rule for rule in self.rules if rule.behavior == behavior)

    def root_of(self, source: Source) -> str:
        """The folder that a leading `/` in a path rule of this source stands for."""
        return self.roots.get(source, self.original_cwd)

    def changed(self, **changes: Any) -> Policy:
        """A copy with other field values."""
        return replace(self, **changes)

    def with_rules(
        self, texts: Iterable[str], behavior: RuleBehavior, source: Source
    ) -> tuple[Policy, list[RuleProblem]]:
        """A copy with further rules, and what was wrong with those that have no effect."""
        rules, problems = parse_rules(texts, behavior, source)
        return self.changed(rules=(*self.rules, *rules)), problems
