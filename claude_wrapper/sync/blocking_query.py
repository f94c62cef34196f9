"""One run of an agent as a plain iterator."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from claude_wrapper.conversation.run import Run
from claude_wrapper.conversation.start import start_conversation
from claude_wrapper.options import ClaudeAgentOptions

from .loop_thread import LoopThread
from .plain_callbacks import async_options, async_prompts

if TYPE_CHECKING:
    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.messages import Message

__all__ = ["END", "messages_of", "next_or_end", "query"]

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
        start = partial(start_conversation, async_options(given, loop.abort), transport)
        run = Run(async_prompts(prompt, loop.abort), start)
        loop.at_the_end = run.aclose
        yield from messages_of(loop, run)
    finally:
        loop.close()


def messages_of(loop: LoopThread, run: Run) -> Iterator[Message]:
    """Give the messages of a run that goes on in another thread."""
    # As many messages at a time as have come: each call between threads costs as much as many.
    while batch := loop.call(run.next_batch):
        yield from batch


async def next_or_end(items: AsyncIterator[Any]) -> Any:
    """Return the next item, or END."""
    return await anext(items, END)
