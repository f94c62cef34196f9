"""Hooks that nobody waits for: what they say once they are done, and their end with the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from claude_wrapper.wire.hook_outputs import AdditionalContextOutput

from .reply import HookReply

if TYPE_CHECKING:
    from .command import CommandRun

__all__ = ["LateAnswers"]

_END_SECONDS = 3.0


class LateAnswers:
    """What they say is kept until the model is told."""

    def __init__(self) -> None:
        self._running: set[CommandRun] = set()
        self._over: set[CommandRun] = set()
        self._texts: list[str] = []
        self._changed = anyio.Event()

    def goes_on(self, run: CommandRun) -> None:
        """A hook is not waited for."""
        if run in self._over:
            self._over.discard(run)
        else:
            self._running.add(run)

    def came(self, run: CommandRun, reply: HookReply) -> None:
        """It is done."""
        if run in self._running:
            self._running.discard(run)
        else:
            self._over.add(run)
        self._texts += _texts(reply)
        self._changed.set()
        self._changed = anyio.Event()

    def take(self) -> list[str]:
        """What was said since the last time."""
        texts, self._texts = self._texts, []
        return texts

    async def end(self) -> None:
        """End those that still run, and wait until they are gone."""
        for run in self._running:
            run.scope.cancel()
        with anyio.move_on_after(_END_SECONDS):
            while self._running:
                await self._changed.wait()


def _texts(reply: HookReply) -> list[str]:
    output = reply.output
    if output is None:
        return []
    texts = [output.system_message] if isinstance(output.system_message, str) else []
    specific = output.hook_specific_output
    if isinstance(specific, AdditionalContextOutput) and isinstance(specific.additional_context, str):
        texts.append(specific.additional_context)
    return [text for text in texts if text]
