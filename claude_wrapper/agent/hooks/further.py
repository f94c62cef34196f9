"""The hooks of a session as one of its subagents has them: with some of its own, or without some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .hook import Hook
from .registry import HookRegistry

__all__ = ["FurtherHooks"]


class FurtherHooks(HookRegistry):
    """Follows the session's registry. `own` are asked beside its hooks, and hooks of the kinds `without` are not."""

    def __init__(
        self, session: HookRegistry, own: Mapping[str, Sequence[Hook]], without: tuple[type[Hook], ...] = ()
    ) -> None:
        super().__init__()
        self._session = session
        self._own = own
        self._without = without
        self.condition = session.condition

    def spend(self, event: str, hook: Hook) -> None:
        """One has run that is to run once."""
        self._session.spend(event, hook)

    def hooks(self, event: str, *, of_host: bool = True) -> Iterable[Hook]:
        """The hooks of an event; with or without those of the host."""
        for hook in self._session.hooks(event, of_host=of_host):
            if not isinstance(hook, self._without):
                yield hook
        if self._session.further:
            yield from self._own.get(event, ())
