"""Settings of several sources as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from claude_wrapper.wire.codec import encode

from .file import SettingsFile

__all__ = ["in_force", "managed_only", "merged", "value_of"]

_WHOLE = frozenset({"fallbackModel", "availableModels"})
"""Lists that are a choice, of which the highest source's counts alone."""


def merged(files: Iterable[SettingsFile]) -> dict[str, Any]:
    """What is in force: objects and lists of all sources together, of other values the highest source's."""
    effective: dict[str, Any] = {}
    for each in files:
        effective = _laid_over(effective, each.values)
    return effective


def value_of(files: Iterable[SettingsFile], key: str) -> Any:
    """One setting as it is in force, None when nobody sets it."""
    value = None
    for each in files:
        if key in each.values:
            value = each.values[key] if value is None or key in _WHOLE else _joined(value, each.values[key])
    return value


def managed_only(files: Iterable[SettingsFile], switch: str) -> bool:
    """Whether the administrator lets nobody else set something."""
    return any(each.source == "policySettings" and each.has(switch) for each in files)


def in_force(files: Iterable[SettingsFile], switch: str) -> list[SettingsFile]:
    """The sources that may set something: all of them, or those of the administrator."""
    files = list(files)
    only = managed_only(files, switch)
    return [each for each in files if not only or each.source == "policySettings"]


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        result[key] = value if key not in below or key in _WHOLE else _joined(below[key], value)
    return result


def _joined(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return _laid_over(below, above)
    if isinstance(below, list) and isinstance(above, list):
        return list({encode(each): each for each in (*below, *above)}.values())
    return above
