"""Which hooks settings put in force, all sources together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from .hook import Hook, HttpHook

if TYPE_CHECKING:
    from .section import Problem

__all__ = ["Plan", "SettingsSource", "plan_hooks"]

_MANAGED = "policySettings"


class SettingsSource(NamedTuple):
    """Settings of one source; they are planned with in the order of precedence, lowest first."""

    name: str
    values: Mapping[str, Any]
    place: str
    """What warnings call it: a file, as a rule."""


class Plan(NamedTuple):
    """What is in force, by event, and what is wrong with the settings."""

    hooks: dict[str, list[Hook]]
    problems: list[Problem]
    further: bool
    """Hooks that no settings name may run, too."""


def plan_hooks(sources: Iterable[SettingsSource]) -> Plan:
    """Bring the hooks of all sources together; none replaces another."""
    sources = list(sources)
    managed = [source for source in sources if source.name == _MANAGED]
    further = True
    if _last(managed, "disableAllHooks") is True:
        sources, further = [], False
    elif _last(sources, "disableAllHooks") is True or _last(managed, "allowManagedHooksOnly") is True:
        sources, further = managed, False
    hooks: dict[str, list[Hook]] = {}
    problems: list[Problem] = []
    for source in sources:
        if "hooks" not in source.values:
            continue
        # Most settings have no hooks.
        from .section import read_section  # noqa: PLC0415

        found, wrong = read_section(source.values["hooks"], source.place)
        problems += wrong
        for event, its_hooks in found.items():
            hooks.setdefault(event, []).extend(its_hooks)
    return Plan(_within_limits(hooks, sources), problems, further)


def _last(sources: Iterable[SettingsSource], key: str) -> Any:
    value = None
    for source in sources:
        value = source.values.get(key, value)
    return value


def _within_limits(hooks: dict[str, list[Hook]], sources: Iterable[SettingsSource]) -> dict[str, list[Hook]]:
    """Without addresses that may not be posted to; headers without variables that may not be told."""
    sources = list(sources)
    urls, variables = _union(sources, "allowedHttpHookUrls"), _union(sources, "httpHookAllowedEnvVars")
    return {
        event: [
            _limited(hook, variables) if isinstance(hook, HttpHook) else hook
            for hook in its_hooks
            if not isinstance(hook, HttpHook)
            or urls is None
            or any(fnmatchcase(hook.url, pattern) for pattern in urls)
        ]
        for event, its_hooks in hooks.items()
    }


def _limited(hook: HttpHook, variables: list[str] | None) -> HttpHook:
    if variables is None:
        return hook
    return HttpHook(
        url=hook.url,
        headers=hook.headers,
        variables=tuple(name for name in hook.variables if name in variables),
        seconds=hook.seconds,
        matcher=hook.matcher,
        condition=hook.condition,
    )


def _union(sources: Iterable[SettingsSource], key: str) -> list[str] | None:
    """All texts of a list that several sources may have; None if no source has it."""
    lists = [source.values[key] for source in sources if isinstance(source.values.get(key), list)]
    return [item for each in lists for item in each if isinstance(item, str)] if lists else None
