"""The events of a compaction: before it, the session that begins anew with it, and after it."""

from __future__ import annotations

from msgspec.structs import replace

from claude_wrapper.agent.hooks.outcome import Outcome
from claude_wrapper.wire.hook_session_inputs import PostCompactInput, PreCompactInput, SessionStartInput

from .events import HookEvents

__all__ = ["begun_anew", "compacted", "compaction_wanted"]


async def compaction_wanted(hooks: HookEvents, trigger: str, wishes: str) -> Outcome:
    """The conversation is about to be summed up; what hooks say are further wishes about the summary."""
    event = PreCompactInput(**hooks.fields.bare(), trigger=trigger, custom_instructions=wishes or None)
    outcome = await hooks.occur(event, trigger, told=False)
    if hooks.has("PreCompact"):
        hooks.tell("PreCompact", "PreCompact", replace(outcome, messages=[]))
    return outcome


async def begun_anew(hooks: HookEvents, model: str) -> list[str]:
    """The conversation begins with a summary now; returns what hooks want the model to know."""
    source = "compact"
    event = SessionStartInput(**hooks.fields.bare(), source=source, model=model)
    return (await hooks.occur(event, source)).contexts


async def compacted(hooks: HookEvents, trigger: str, summary: str) -> None:
    """The conversation was summed up."""
    await hooks.occur(
        PostCompactInput(**hooks.fields.bare(), trigger=trigger, compact_summary=summary), trigger
    )
