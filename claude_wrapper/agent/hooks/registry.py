"""The hooks that are in force, by event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from claude_wrapper.wire.hooks import HookMatcherBody

from .match import matches

__all__ = ["HookRegistry", "HostHook"]

_DEFAULT_SECONDS = 600.0
_SECONDS = {"UserPromptSubmit": 30.0, "UserPromptExpansion": 30.0, "MessageDisplay": 10.0, "SessionEnd": 1.5}


class HostHook(msgspec.Struct, frozen=True):
    """A callback of the host."""

    callback_id: str
    matcher: str | None
    seconds: float
    blocks_on_failure: bool


class HookRegistry:
    """Knows which hooks an event concerns."""

    def __init__(self) -> None:
        self._host: dict[str, list[HostHook]] = {}

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

    def has(self, event: str) -> bool:
        """Whether any hook may be concerned by the event."""
        return bool(self._host.get(event))

    def concerned(self, event: str, subject: str | None) -> list[HostHook]:
        """The hooks to be asked about an event; `subject` is what matchers are compared with."""
        return [hook for hook in self._host.get(event, ()) if matches(hook.matcher, subject)]


def _seconds(event: str, body: HookMatcherBody) -> float:
    if isinstance(body.timeout, int | float) and body.timeout > 0:
        return float(body.timeout)
    return _SECONDS.get(event, _DEFAULT_SECONDS)
