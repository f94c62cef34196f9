"""One run of an agent as a plain iterator."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from claude_wrapper.conversation.prompts import check_prompts
from claude_wrapper.conversation.run import run
from claude_wrapper.conversation.start import start_conversation
from claude_wrapper.options import ClaudeAgentOptions

from .loop_thread import LoopThread
from .plain_callbacks import async_options, async_prompts

if TYPE_CHECKING:
    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.messages import Message

__all__ = ["END", "next_or_end", "query"]

END: Any = object()
"""Stands for the end of an iteration, which no coroutine may raise."""


def query(
    *,
    prompt: str | Iterable[dict[str, Any]] | AsyncIterable[dict[str, Any]],
    options: ClaudeAgentOptions | None = None,
    transport: Transport | None = None,
) -> Iterator[Message]:
    """Run an agent on a prompt, or on the `user` frames of an iterable, and give its messages.

    As `claude_wrapper.query`, errors included; leaving the iteration early, also by Ctrl+C, ends the agent.
    """
    loop = LoopThread()
    try:
        given = options if options is not None else ClaudeAgentOptions()
        batches = _batches(async_prompts(prompt, loop.abort), async_options(given, loop.abort), transport)
        loop.at_the_end = batches.aclose
        while (batch := loop.call(next_or_end, batches)) is not END:
            yield from batch
    finally:
        loop.close()


async def _batches(
    prompt: str | AsyncIterable[dict[str, Any]], options: ClaudeAgentOptions, transport: Transport | None
) -> AsyncGenerator[list[Message], None]:
    """Give as many messages at a time as have come, since each call between threads costs as much as many."""
    check_prompts(prompt)
    live = await start_conversation(options, transport)
    async with aclosing(run(live, prompt)) as batches:
        async for batch in batches:
            yield batch


async def next_or_end(items: AsyncIterator[Any]) -> Any:
    """Return the next item, or END."""
    return await anext(items, END)
