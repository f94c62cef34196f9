"""Asking the hooks that an event concerns, all at once, and bringing their answers in order."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import anyio
import msgspec

from claude_wrapper.wire.hook_outputs import HookOutput

from .registry import HookRegistry, HostHook

__all__ = ["HookFailedError", "HookGoneError", "HookHost", "HookReply", "HookRunner", "HookTimeoutError"]


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


class HookReply(msgspec.Struct, frozen=True):
    """What one hook answered, or how it failed."""

    hook: HostHook
    output: HookOutput | None = None
    failure: Literal["timeout", "gone", "misplaced", "error"] | None = None


class HookRunner:
    """Runs hooks. Their failures are outcomes; nothing but cancellation is raised."""

    def __init__(self, registry: HookRegistry, host: HookHost) -> None:
        self.registry = registry
        self._host = host

    def has(self, event: str) -> bool:
        """Whether any hook may be concerned by the event, so that its input is worth making."""
        return self.registry.has(event)

    async def run(self, name: str, subject: str | None, event: Any, tool_use_id: str) -> list[HookReply]:
        """Ask all hooks that the event concerns; their replies come in the order of registration."""
        hooks = self.registry.concerned(name, subject)
        if not hooks:
            return []
        if len(hooks) == 1:
            return [await self._ask(hooks[0], name, event, tool_use_id)]
        replies: dict[int, HookReply] = {}

        async def ask(place: int, hook: HostHook) -> None:
            replies[place] = await self._ask(hook, name, event, tool_use_id)

        async with anyio.create_task_group() as tasks:
            for place, hook in enumerate(hooks):
                tasks.start_soon(ask, place, hook)
        return [replies[place] for place in range(len(hooks))]

    async def _ask(self, hook: HostHook, name: str, event: Any, tool_use_id: str) -> HookReply:
        try:
            output = await self._host.call_hook(hook.callback_id, event, tool_use_id, hook.seconds)
        except HookTimeoutError:
            return HookReply(hook, failure="timeout")
        except HookGoneError:
            return HookReply(hook, failure="gone")
        except HookFailedError:
            return HookReply(hook, failure="error")
        specific = output.hook_specific_output
        if isinstance(specific, msgspec.Struct) and specific.__struct_config__.tag != name:
            return HookReply(hook, failure="misplaced")
        return HookReply(hook, output)
