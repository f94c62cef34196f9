"""The hooks that are in force, by event."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from claude_wrapper.wire.hooks import HookMatcherBody

from .hook import Hook, HostHook, default_seconds
from .match import matches

__all__ = ["Condition", "HookRegistry"]

_SECONDS = 600.0


class Condition(Protocol):
    """Tells whether a permission rule speaks of a call."""

    def __call__(self, rule: str, tool_name: str, tool_input: dict[str, Any]) -> bool: ...


class HookRegistry:
    """Knows which hooks an event concerns."""

    def __init__(self) -> None:
        self._host: dict[str, list[Hook]] = {}
        self._settings: Mapping[str, Sequence[Hook]] = {}
        self._joined: dict[str, list[Hook]] = {}
        self.condition: Condition = lambda _rule, _name, _input: True
        self.further = True
        """Hooks that no settings name may run."""

    def replace_host_hooks(self, hooks: Mapping[str, Sequence[HookMatcherBody]] | None) -> None:
        """Put the host's hooks in the place of those it had before."""
        self._host = {
            event: [
                HostHook(
                    callback_id=callback_id,
                    matcher=body.matcher if isinstance(body.matcher, str) else None,
                    seconds=_seconds(event, body),
                    blocks_on_failure=body.on_failure == "block",
                )
                for body in bodies
                for callback_id in body.hook_callback_ids
            ]
            for event, bodies in (hooks or {}).items()
        }

    def replace_settings_hooks(self, hooks: Mapping[str, Sequence[Hook]]) -> None:
        """Put the hooks of the settings in the place of those of older settings."""
        self._settings = hooks

    def join(self, hooks: Mapping[str, Sequence[Hook]]) -> None:
        """Add hooks for the rest of the session."""
        for event, its_hooks in hooks.items():
            self._joined.setdefault(event, []).extend(its_hooks)

    def spend(self, event: str, hook: Hook) -> None:
        """One of those has run that is to run once."""
        joined = self._joined.get(event, [])
        if hook in joined:
            joined.remove(hook)

    def has(self, event: str, *, of_host: bool = True) -> bool:
        """Whether any hook may be concerned by the event; with or without those of the host."""
        return any(True for _ in self.hooks(event, of_host=of_host))

    def hooks(self, event: str, *, of_host: bool = True) -> Iterable[Hook]:
        """The hooks of an event; with or without those of the host."""
        yield from self._settings.get(event, ())
        if self.further:
            yield from tuple(self._joined.get(event, ()))
        if of_host:
            yield from self._host.get(event, ())

    def matchers(self, event: str) -> list[str]:
        """What the hooks of an event are to be matched with, where they say it."""
        return [hook.matcher for hook in self.hooks(event) if hook.matcher]

    def concerned(
        self,
        event: str,
        subject: str | None,
        tool_input: dict[str, Any] | None = None,
        *,
        of_host: bool = True,
    ) -> list[Hook]:
        """The hooks to be asked about an event; `subject` is what matchers are compared with.

        A hook with a condition is for calls only. Of hooks that do the same the first one serves.
        """
        known: set[Hashable] = set()
        found = []
        for hook in self.hooks(event, of_host=of_host):
            if not matches(hook.matcher, subject, event) or not self._holds(hook, subject, tool_input):
                continue
            if hook.identity is not None:
                if hook.identity in known:
                    continue
                known.add(hook.identity)
            found.append(hook)
        return found

    def _holds(self, hook: Hook, subject: str | None, tool_input: dict[str, Any] | None) -> bool:
        if hook.condition is None:
            return True
        return (
            subject is not None
            and tool_input is not None
            and self.condition(hook.condition, subject, tool_input)
        )


def _seconds(event: str, body: HookMatcherBody) -> float:
    if isinstance(body.timeout, int | float) and body.timeout > 0:
        return float(body.timeout)
    return default_seconds(event, _SECONDS)
