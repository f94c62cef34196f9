"""One run on a started agent: prompts in, messages out, and then the agent is gone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any

from claude_wrapper.errors import IncompleteTurnError

from .live import Live
from .prompts import prompt_frame

__all__ = ["run"]

_UNHEARD_GRACE = 0.2
"""Seconds that an agent has to end by itself when it would not even be interrupted."""


async def run(live: Live, prompt: str | AsyncIterable[dict[str, Any]]) -> AsyncGenerator[list[Any], None]:
    """Give the messages of a run, as many at a time as have come. Leaving it, or its end, ends the agent.

    An agent that is left while it works is interrupted first, so that its session holds what it has done.
    """
    try:
        live.adopt_context()
        live.watch(whole_run=True)
        if isinstance(prompt, str):
            await live.send_prompt(prompt_frame(prompt, ""))
            live.end_input()
        else:
            live.feed_prompts(prompt)
        while batch := await live.next_batch():
            yield batch
        if live.turn_is_open and live.is_closed:
            raise IncompleteTurnError("The agent was closed before it gave a result")
    finally:
        unheard = live.turn_is_open and not (live.is_alive and await live.steering.end_turn())
        await live.close(_UNHEARD_GRACE if unheard else None)
