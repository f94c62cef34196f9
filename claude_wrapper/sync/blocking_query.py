"""One run of an agent as a plain iterator."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from claude_wrapper import oneshot
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
        run: Any = oneshot.query(
            prompt=async_prompts(prompt, loop.abort),
            options=async_options(given, loop.abort),
            transport=transport,
        )
        loop.at_the_end = run.aclose
        while (message := loop.call(next_or_end, run)) is not END:
            yield message
    finally:
        loop.close()


async def next_or_end(messages: AsyncIterator[Any]) -> Any:
    """Return the next message, or END."""
    return await anext(messages, END)
