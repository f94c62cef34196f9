"""One run of an agent: prompts in, messages out, and then the agent is gone."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any

from claude_wrapper.conversation.prompts import composed, prompt_frame

if TYPE_CHECKING:
    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.messages import Message
    from claude_wrapper.options import ClaudeAgentOptions

__all__ = ["query"]

_BREAK_GRACE = 0.2
"""Seconds that an agent has to end by itself when its run is left early: it still works on something nobody wants."""


async def query(
    *,
    prompt: str | AsyncIterable[dict[str, Any]],
    options: ClaudeAgentOptions | None = None,
    transport: Transport | None = None,
) -> AsyncIterator[Message]:
    """Run an agent on a prompt, or on the `user` frames of an iterable, and give its messages.

    The iteration ends when the agent has ended; leaving it early ends the agent. An error result is
    given as a message and then raised as ResultError, as the official SDK does. Raises OptionsError,
    CLINotFoundError, CLIConnectionError before the first message, ProcessError when the agent fails,
    IncompleteTurnError when it ends without a result.
    """
    # Start-up: what runs an agent is loaded when one is run.
    from claude_wrapper.conversation.start import start_conversation  # noqa: PLC0415
    from claude_wrapper.options import ClaudeAgentOptions  # noqa: PLC0415

    options = options if options is not None else ClaudeAgentOptions()
    live = await start_conversation(options, transport)
    try:
        live.adopt_context()
        if isinstance(prompt, str):
            frame = prompt_frame(prompt, "")
            await live.send_prompt(composed(frame) if options.verbatim_prompts else frame, tag=False)
            await live.end_input()
        else:
            live.feed_prompts(_verbatim(prompt) if options.verbatim_prompts else prompt, then_end=True)
        while batch := await live.next_batch():
            for message in batch:
                yield message
    finally:
        await live.close(_BREAK_GRACE if live.turn_is_open else None)


async def _verbatim(prompts: AsyncIterable[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    async for frame in prompts:
        yield composed(frame)
