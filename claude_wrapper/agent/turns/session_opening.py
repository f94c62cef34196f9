"""The beginning of a session as hooks see it: setting up, where that was asked for, and the start itself."""

from __future__ import annotations

from claude_wrapper.agent.host.prompts import Prompt
from claude_wrapper.agent.sessions.start import SessionStart
from claude_wrapper.agent.start.settings import Settings
from claude_wrapper.agent.turns.parts import Parts

__all__ = ["SessionOpening", "source_of"]


def source_of(settings: Settings, start: SessionStart) -> str:
    """What hooks are told about where the session comes from."""
    if not start.conversation.entries:
        return "startup"
    return "fork" if settings.session.fork else "resume"


class SessionOpening:
    """Tells hooks, and takes over what they say."""

    def __init__(self, parts: Parts, source: str) -> None:
        self._parts = parts
        self._source = source

    async def run(self, *, first_prompt: bool) -> None:
        """See the hooks through; with `first_prompt` they may have a prompt answered ahead of the given one."""
        parts = self._parts
        if parts.settings.setup is not None:
            await parts.hooks.setup(parts.settings.setup)
        outcome = await parts.hooks.session_start(self._source)
        if outcome.title is not None:
            parts.session.set_title(outcome.title)
            parts.frames.title_changed(outcome.title)
        if first_prompt and outcome.first_prompt:
            parts.queue.put_first(Prompt(outcome.first_prompt))
