"""One run of an agent: prompts in, messages out, and then the agent is gone."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claude_wrapper.conversation.channels import Transport
    from claude_wrapper.messages import Message
    from claude_wrapper.options import ClaudeAgentOptions

__all__ = ["query"]


def query(
    *,
    prompt: str | AsyncIterable[dict[str, Any]],
    options: ClaudeAgentOptions | None = None,
    transport: Transport | None = None,
) -> AsyncIterator[Message]:
    """Run an agent on a prompt, or on the `user` frames of an iterable, and give its messages.

    The iteration starts the agent, and ends when the agent has ended. Leaving it early, or cancelling
    it, interrupts the agent, waits a little for it to end its turn, and ends it; where the loop is left
    by `break`, `return` or an error, that goes on in the background, or is waited for by `aclose()`. An
    error result is given as a message and then raised as ResultError, as the official SDK does. Raises
    OptionsError, MessageParseError (for what is no prompt), CLINotFoundError, CLIConnectionError before
    the first message, ProcessError when the agent fails, IncompleteTurnError when it ends without a
    result, RunTimeoutError when it takes longer than the options allow.
    """
    # Start-up: what runs an agent is loaded when one is run.
    from claude_wrapper.conversation.run import Run  # noqa: PLC0415
    from claude_wrapper.conversation.start import start_conversation  # noqa: PLC0415
    from claude_wrapper.options import ClaudeAgentOptions  # noqa: PLC0415

    given = options if options is not None else ClaudeAgentOptions()
    return Run(prompt, partial(start_conversation, given, transport))
