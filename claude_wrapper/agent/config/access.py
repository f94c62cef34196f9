"""The permission state of the session while it runs: mode, rules, folders, and the changes to them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast, get_args

import anyio.to_thread
import msgspec

from claude_wrapper.agent.config.places import SettingsPlaces
from claude_wrapper.agent.permissions.policy import AddedDirectory, Policy
from claude_wrapper.agent.permissions.rules import RuleBehavior, Source
from claude_wrapper.wire.permissions import PermissionMode, PermissionUpdateBody

__all__ = ["Access", "ModeRefusedError"]

logger = logging.getLogger("claude_wrapper.agent")

_OF_SESSION = frozenset({"cliArg", "flagSettings", "session"})
"""Sources that are no files, or not read again."""
MODES = tuple(sorted(get_args(PermissionMode)))


class ModeRefusedError(Exception):
    """The mode cannot be entered; the text says why, and `code` in a word."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


class Access:
    """Holds the policy in force. `on_mode` is told of every new mode."""

    def __init__(self, policy: Policy, places: SettingsPlaces, on_mode: Callable[[str], None]) -> None:
        self._policy = policy
        self._places = places
        self._on_mode = on_mode
        self._before_plan: PermissionMode = "default"
        self.writing: Callable[[Path], AbstractContextManager[None]] = lambda _path: nullcontext()
        """Entered around every change that the session itself makes to a settings file."""

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._policy

    @property
    def mode(self) -> PermissionMode:
        """The mode in force."""
        return self._policy.mode

    def directories(self, cwd: Path) -> list[Path]:
        """The folders that the session works in."""
        original = Path(self._policy.original_cwd)
        own = [original] if cwd == original else [original, cwd]
        return own + [Path(each.path) for each in self._policy.directories]

    def check_mode(self, mode: str) -> PermissionMode:
        """The mode of this name, if it may be entered now; raises ModeRefusedError."""
        if mode == "manual":
            mode = "default"
        if mode not in MODES:
            raise ModeRefusedError(
                f"Cannot set permission mode: must be one of {', '.join(MODES)}", "invalid_mode"
            )
        if mode == "bypassPermissions" and self._policy.bypass_disabled:
            raise ModeRefusedError(
                "Cannot set permission mode to bypassPermissions because it is disabled by settings or configuration",
                "bypass_disabled",
            )
        if mode == "auto" and self._policy.auto_disabled:
            raise ModeRefusedError(
                "Cannot set permission mode to auto: auto mode is disabled by settings", "auto_mode_disabled"
            )
        if mode == "bypassPermissions" and not self._policy.bypass_available:
            raise ModeRefusedError(
                "Cannot set permission mode to bypassPermissions because the session was not launched with "
                "--dangerously-skip-permissions",
                "bypass_not_launched",
            )
        return cast("PermissionMode", mode)

    def set_mode(self, mode: PermissionMode) -> None:
        """Enter a mode that was checked."""
        self._replace(self._policy.changed(mode=mode))

    def leave_plan(self) -> None:
        """Go back to the mode from which planning began."""
        self.set_mode(self._before_plan)

    def replace_rules(self, source: Source, texts: Iterable[tuple[RuleBehavior, Sequence[str]]]) -> None:
        """Put other rules in the place of those of one source; those that can have no effect are left out."""
        kept = tuple(rule for rule in self._policy.rules if rule.source != source)
        policy = self._policy.changed(rules=kept)
        for behavior, rules in texts:
            policy, _ = policy.with_rules(rules, behavior, source)
        self._replace(policy)

    def renew(self, fresh: Policy) -> None:
        """Put what settings say now in the place of what they said; what the session was given stays."""
        old = self._policy
        given = fresh if old.managed_only else old
        rules = [rule for rule in fresh.rules if rule.source not in _OF_SESSION]
        if not fresh.managed_only:
            rules += [rule for rule in given.rules if rule.source in _OF_SESSION]
        folders = [each for each in fresh.directories if each.source not in _OF_SESSION]
        folders += [each for each in old.directories if each.source in _OF_SESSION]
        barred = (old.mode == "bypassPermissions" and fresh.bypass_disabled) or (
            old.mode == "auto" and fresh.auto_disabled
        )
        mode = "default" if barred else old.mode
        self._replace(fresh.changed(mode=mode, rules=tuple(rules), directories=tuple(folders)))

    def add_directory(self, path: Path) -> None:
        """Work in a further folder as well."""
        if all(each.path != str(path) for each in self._policy.directories):
            added = AddedDirectory(str(path), "session")
            self._replace(self._policy.changed(directories=(*self._policy.directories, added)))

    async def apply(self, raw: Sequence[dict[str, Any]]) -> None:
        """Apply the updates of an answer, and write down those that are to last; one bad one voids all."""
        # Not before the first update: most sessions have none.
        from claude_wrapper.agent.permissions.updates import apply_updates  # noqa: PLC0415

        try:
            updates = msgspec.convert(list(raw), list[PermissionUpdateBody])
        except msgspec.ValidationError as error:
            logger.warning("permission updates that cannot be read were not applied: %s", error)
            return
        policy, problems = apply_updates(self._policy, updates)
        for problem in problems:
            logger.warning("a permission update was not applied: %s", problem)
        changes = policy != self._policy
        usable = [update for update in updates if not self._is_a_folders_grant(update)]
        self._replace(policy if len(usable) == len(updates) else apply_updates(self._policy, usable)[0])
        if changes and any(self._places.path(str(update.destination)) is not None for update in updates):
            # Another program may keep the file locked for a while.
            lost = await anyio.to_thread.run_sync(self._keep, updates)
            # What stands in no file must not go when the files are read again.
            given = [msgspec.structs.replace(update, destination="session") for update in lost]
            self._replace(apply_updates(self._policy, given)[0])

    def _is_a_folders_grant(self, update: PermissionUpdateBody) -> bool:
        """Whether an update lets a folder grant itself what nobody trusts it with: it is written down and waits."""
        grants = update.behavior == "allow" and update.type in {"addRules", "replaceRules"}
        return grants and update.destination == "projectSettings" and not self._places.trusted()

    def _keep(self, updates: Iterable[PermissionUpdateBody]) -> list[PermissionUpdateBody]:
        """Write down what is to last beyond the session; what could not be written down."""
        from claude_wrapper.agent.config.change import SettingsNotWrittenError, write_updates  # noqa: PLC0415  # as above

        lost: list[PermissionUpdateBody] = []
        for update in updates:
            path = self._places.path(str(update.destination))
            if path is None or (self._policy.managed_only and update.type.endswith("Rules")):
                continue
            try:
                with self.writing(path):
                    write_updates(path, [update], follow_link=update.destination == "userSettings")
            except SettingsNotWrittenError as error:
                logger.warning("a permission update holds for this session only: %s", error)
                if not self._is_a_folders_grant(update):
                    lost.append(update)
            else:
                self._tell_of_trust(update)
        return lost

    def _tell_of_trust(self, update: PermissionUpdateBody) -> None:
        """Say that what was written down will not count, if nobody trusts the folder."""
        if (
            update.destination != "projectSettings"
            or update.type.startswith("remove")
            or self._places.trusted()
        ):
            return
        if self._is_a_folders_grant(update):
            sys.stderr.write(self._places.ignoring(len(update.rules or ()), "allow") + "\n")
        elif update.type == "addDirectories":
            count = len(update.directories or ())
            sys.stderr.write(self._places.ignoring(count, "additionalDirectories") + "\n")

    def _replace(self, policy: Policy) -> None:
        before, self._policy = self._policy, policy
        if policy.mode != before.mode:
            if policy.mode == "plan":
                self._before_plan = before.mode
            self._on_mode(policy.mode)
