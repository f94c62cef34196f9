"""Asking the hooks that an event concerns, all at once, and bringing their answers in order."""

from __future__ import annotations

from typing import Any, Protocol

import anyio
import msgspec

from claude_wrapper.wire.hook_outputs import HookOutput

from .hook import Hook, HostHook
from .registry import HookRegistry
from .reply import HookReply, Occasion

__all__ = ["HookFailedError", "HookGoneError", "HookHost", "HookRunner", "HookTimeoutError"]


class HookFailedError(Exception):
    """A hook gave no usable answer."""


class HookGoneError(HookFailedError):
    """Nobody is there to answer any more, or the question was taken back."""


class HookTimeoutError(HookFailedError):
    """A hook gave no answer in time."""


class HookHost(Protocol):
    """Calls the host's hooks."""

    async def call_hook(self, callback_id: str, event: Any, tool_use_id: str, seconds: float) -> HookOutput:
        """Raises HookTimeoutError, HookGoneError and, for all other failures, HookFailedError."""
        ...


class HookAsker(Protocol):
    """Asks the hooks of settings."""

    async def ask(self, hook: Hook, occasion: Occasion) -> HookReply: ...


class HookRunner:
    """Runs hooks. Their failures are outcomes; nothing but cancellation is raised."""

    def __init__(self, registry: HookRegistry, host: HookHost, settings_hooks: HookAsker) -> None:
        self.registry = registry
        self._host = host
        self._settings_hooks = settings_hooks

    def of(self, registry: HookRegistry) -> HookRunner:
        """The same for other hooks."""
        return HookRunner(registry, self._host, self._settings_hooks)

    async def run(self, occasion: Occasion, *, of_host: bool = True) -> list[HookReply]:
        """Ask all hooks that the event concerns; their replies come in the order of registration."""
        hooks = self.registry.concerned(
            occasion.event, occasion.subject, occasion.tool_input, of_host=of_host
        )
        if not hooks:
            return []
        if len(hooks) == 1:
            return [await self._ask(hooks[0], occasion)]
        replies: dict[int, HookReply] = {}

        async def ask(place: int, hook: Hook) -> None:
            replies[place] = await self._ask(hook, occasion)

        async with anyio.create_task_group() as tasks:
            for place, hook in enumerate(hooks):
                tasks.start_soon(ask, place, hook)
        return [replies[place] for place in range(len(hooks))]

    async def _ask(self, hook: Hook, occasion: Occasion) -> HookReply:
        if not isinstance(hook, HostHook):
            reply = await self._settings_hooks.ask(hook, occasion)
            if hook.once and reply.failure is None:
                self.registry.spend(occasion.event, hook)
            return reply
        try:
            output = await self._host.call_hook(hook.callback_id, occasion.input, occasion.id, hook.seconds)
        except HookTimeoutError:
            return HookReply(hook, failure="timeout")
        except HookGoneError:
            return HookReply(hook, failure="gone")
        except HookFailedError:
            return HookReply(hook, failure="error")
        specific = output.hook_specific_output
        if isinstance(specific, msgspec.Struct) and specific.__struct_config__.tag != occasion.event:
            return HookReply(hook, failure="misplaced")
        return HookReply(hook, output)
