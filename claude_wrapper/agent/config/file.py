"""One source of settings: what it says, as far as it may be taken at its word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from claude_wrapper.agent.permissions.rules import RuleBehavior, Source

from .faults import Fault, line_of
from .reading import Reading
from .schema import complaints

__all__ = ["BEHAVIORS", "SettingsFile", "checked"]

BEHAVIORS: tuple[RuleBehavior, ...] = ("deny", "ask", "allow")
_GRANTS = frozenset({"allow", "additionalDirectories"})


class SettingsFile(msgspec.Struct, frozen=True):
    """What one source of settings says. `root` is the folder that its path rules are relative to."""

    source: Source
    values: dict[str, Any]
    root: Path | None = None
    path: Path | None = None
    text: str = ""
    """What was read, to find lines in."""

    @property
    def place(self) -> str:
        """What people are told it is."""
        return str(self.path) if self.path is not None else "--settings"

    def rules(self, behavior: RuleBehavior) -> list[str]:
        """The permission rules of one list; what is no text is left out."""
        return [rule for rule in self._permission_list(behavior) if isinstance(rule, str)]

    def strangers(self, behavior: RuleBehavior) -> int:
        """How many entries of such a list are no texts."""
        return sum(not isinstance(rule, str) for rule in self._permission_list(behavior))

    def directories(self) -> list[str]:
        """Further folders to work in."""
        return [path for path in self._permission_list("additionalDirectories") if isinstance(path, str)]

    def environment(self) -> dict[str, str]:
        """Variables for the agent and what it starts."""
        env = self.values.get("env")
        if not isinstance(env, dict):
            return {}
        return {key: _written(value) for key, value in env.items() if isinstance(value, str | int | float)}

    def permission(self, name: str) -> str | None:
        """A text among the permissions."""
        permissions = self.values.get("permissions")
        value = permissions.get(name) if isinstance(permissions, dict) else None
        return value if isinstance(value, str) else None

    def has(self, switch: str) -> bool:
        """Whether something is switched on."""
        return self.values.get(switch) is True

    def hooks(self) -> dict[str, Any]:
        """The hooks, as they are written."""
        hooks = self.values.get("hooks")
        return hooks if isinstance(hooks, dict) else {}

    def line(self, keys: Sequence[str], value: str | None = None) -> int:
        """The line on which something stands, 0 when it is not known."""
        return line_of(self.text, keys, value) if self.text else 0

    def without_grants(self) -> SettingsFile:
        """The same without what widens the agent's permissions."""
        permissions = self.values.get("permissions") or {}
        kept = {key: value for key, value in permissions.items() if key not in _GRANTS}
        return msgspec.structs.replace(self, values={**self.values, "permissions": kept})

    def _permission_list(self, name: str) -> Sequence[Any]:
        permissions = self.values.get("permissions")
        values = permissions.get(name) if isinstance(permissions, dict) else None
        return values if isinstance(values, list) else []


def checked(
    source: Source, reading: Reading, root: Path | None, path: Path | None, *, keep_rest: bool = False
) -> tuple[SettingsFile | None, list[Fault]]:
    """The settings of a source, and what is wrong with them.

    One wrong value makes the whole file count for nothing, since the rest may have been meant with it.
    `keep_rest` leaves out the wrong ones only: that is for rules which bind the user.
    """
    if reading.values is None:
        return None, [reading.fault] if reading.fault is not None else []
    file = SettingsFile(source, reading.values, root, path, reading.text)
    wrong = complaints(reading.values)
    effect = "it was left out" if keep_rest else "nothing of this file is in force"
    faults = [
        Fault(file.place, f"{problem}; {effect}", ".".join(keys), file.line(keys)) for keys, problem in wrong
    ]
    if not wrong:
        return file, []
    if not keep_rest:
        return None, faults
    values = reading.values
    for keys, _ in wrong:
        values = _without(values, keys)
    return msgspec.structs.replace(file, values=values), faults


def _written(value: str | float) -> str:
    """A value as the variable that it stands for."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def _without(values: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    first, *rest = keys
    inner = values.get(first)
    if not rest:
        return {key: value for key, value in values.items() if key != first}
    return {**values, first: _without(inner, rest)} if isinstance(inner, dict) else values
