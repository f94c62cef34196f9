"""What the user might want to say next: asked of the model while nobody waits for anything."""

from __future__ import annotations

import logging
import re
from typing import Any

import anyio
import msgspec

from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.wire.notices import PromptSuggestionFrame

__all__ = ["Suggesting", "as_suggestion"]

_log = logging.getLogger("claude_wrapper.agent")

_FROM_TURN = 2
"""The first turn after which it is asked: before, nobody knows what the user is about."""
_MOST_WORDS = 12
_MOST_LETTERS = 100
_SECONDS = 60.0
_ALONE = frozenset("check commit continue deploy no ok okay push stop sure test yeah yep yes".split())  # noqa: SIM905
"""Single words that say enough."""
# Compiled on first use: most sessions ask for no suggestion.
_NOT_THE_USER = r"(?:let me|i'll|i will|i can|i've|here|sure|certainly|looks? good|thanks?|thank you|nothing|none|no suggestion|done)\b"
_MARKS = r"[*`#\n]|[.!?]\s+\S"
_INSTRUCTION = (
    "Leave the task for a moment. Guess the one short message that the user is most likely to type next, in the "
    "user's own voice: at most twelve words, one sentence, no markdown, no quotes. Call no tool and explain nothing. "
    "If nothing is likely, answer with an empty text."
)


class Suggesting:
    """Asks after each turn, until the next prompt comes."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._turns = 0

    async def until_prompt(self) -> None:
        """Suggest something, unless a prompt comes first; returns at the latest then."""
        parts = self._parts
        if parts.results.last_was_error:
            return
        self._turns += 1
        wanted = parts.suggest or parts.settings.suggest_prompts
        if not wanted or self._turns < _FROM_TURN or len(parts.queue) or parts.queue.closed:
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._cancel_on_prompt, tasks.cancel_scope)
            with anyio.move_on_after(_SECONDS):
                await self._suggest()
            tasks.cancel_scope.cancel()

    async def _cancel_on_prompt(self, scope: anyio.CancelScope) -> None:
        await self._parts.queue.arrival()
        scope.cancel()

    async def _suggest(self) -> None:
        parts = self._parts
        request = parts.brief.request(parts.session.history, parts.toolbox.definitions(), parts.session.id)
        question: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": _INSTRUCTION}]}
        request = msgspec.structs.replace(request, messages=[*request.messages, question], aside=True)
        try:
            text = as_suggestion(await parts.asker.aside(request))
        except Exception:  # noqa: BLE001  # nothing depends on it
            _log.exception("No prompt could be suggested.")
            return
        if text is not None:
            frame = PromptSuggestionFrame(
                suggestion=text, uuid=new_uuid(), session_id=parts.frames.session_id
            )
            parts.frames.emit(frame)


def as_suggestion(text: str) -> str | None:
    """What of a model's answer can be put into a user's mouth; None if it reads like something else."""
    text = text.strip().strip("\"'").strip()
    words = text.split()
    if not words or len(words) > _MOST_WORDS or len(text) > _MOST_LETTERS or re.search(_MARKS, text):
        return None
    if len(words) == 1:
        return text if text.lower().rstrip(".!") in _ALONE or text.startswith("/") else None
    return None if re.match(_NOT_THE_USER, text, re.IGNORECASE) else text
