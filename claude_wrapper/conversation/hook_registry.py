"""The hooks of a conversation: the ids by which the agent calls them, and their registration."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from claude_wrapper.errors import CLIConnectionError
from claude_wrapper.hook_matchers import HookMatcher

__all__ = ["Hook", "HookRegistry"]


class Hook(NamedTuple):
    """A callback, with what its matcher says about it."""

    event: str
    callback: Callable[..., Awaitable[Any]]
    timeout: float | None
    must_answer: bool
    """Whether saying nothing counts as a failure: somebody relies on its word."""


class HookRegistry:
    """Gives every hook callback the id by which the agent calls it."""

    def __init__(self, hooks: Mapping[Any, list[HookMatcher]] | None) -> None:
        self.hooks: dict[str, Hook] = {}
        self._must_block = False
        self.wire: dict[str, list[dict[str, Any]]] | None = None
        """The registration as the agent takes it; None without hooks."""
        if hooks:
            self.wire = {
                event: [self._matcher(event, m) for m in matchers]
                for event, matchers in hooks.items()
                if matchers
            }

    def check_agent(self, info: dict[str, Any]) -> None:
        """Refuse an agent that does not say that it blocks when a hook fails, where one relies on that."""
        blocks = info.get("hook_on_failure_supported") and info.get("hooks_applied") is not False
        if self._must_block and not blocks:
            raise CLIConnectionError(
                'A hook has on_failure="block", but this agent does not say that it blocks when a hook fails'
            )

    def _matcher(self, event: str, matcher: HookMatcher) -> dict[str, Any]:
        ids = []
        for callback in matcher.hooks:
            hook_id = f"hook_{len(self.hooks)}"
            self.hooks[hook_id] = Hook(event, callback, matcher.timeout, matcher.on_failure == "block")
            ids.append(hook_id)
        body: dict[str, Any] = {"matcher": matcher.matcher, "hookCallbackIds": ids}
        if matcher.timeout is not None:
            body["timeout"] = matcher.timeout
        if matcher.on_failure is not None:
            body["onFailure"] = matcher.on_failure
            self._must_block = self._must_block or matcher.on_failure == "block"
        return body
