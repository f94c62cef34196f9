"""One run of an agent: prompts in, messages out, and then the agent is gone."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING, Any

from claude_wrapper.conversation.start import start_conversation
from claude_wrapper.options import ClaudeAgentOptions

if TYPE_CHECKING:
    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.messages import Message

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
    options = options if options is not None else ClaudeAgentOptions()
    live = await start_conversation(options, transport, streaming=not isinstance(prompt, str))
    try:
        live.adopt_context()
        if isinstance(prompt, str):
            await live.send_prompt(_frame(prompt, options), tag=False)
            await live.end_input()
        else:
            live.feed_prompts(
                _verbatim(prompt) if options.verbatim_prompts else prompt, then_end=True
            )
        while batch := await live.next_batch():
            for message in batch:
                yield message
    finally:
        await live.close(_BREAK_GRACE if live.turn_is_open else None)


def _frame(prompt: str, options: ClaudeAgentOptions) -> dict[str, Any]:
    frame = {
        "type": "user",
        "session_id": "",
        "message": {"role": "user", "content": prompt},
        "parent_tool_use_id": None,
    }
    return {**frame, "client_composed": True} if options.verbatim_prompts else frame


async def _verbatim(prompts: AsyncIterable[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    async for frame in prompts:
        is_prompt = isinstance(frame, dict) and frame.get("type") == "user"
        yield {**frame, "client_composed": True} if is_prompt else frame
