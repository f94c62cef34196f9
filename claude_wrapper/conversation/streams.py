"""What users iterate over: all messages of a conversation, or those of one turn.

These are iterators and not generators: they hold nothing that has to be cleaned up, so that leaving
a loop early is fine under trio as well, which warns about generators that nobody closed.
"""

from __future__ import annotations

from typing import Any

from claude_wrapper.errors import IncompleteTurnError
from claude_wrapper.messages import ResultMessage

from .inbox import Inbox
from .turns import ResultKind, TurnTracker

__all__ = ["Messages", "Response"]


class Messages:
    """All messages, until the agent's output ends; raises how it ended, if badly."""

    def __init__(self, inbox: Inbox, turns: TurnTracker) -> None:
        self._inbox = inbox
        self._turns = turns

    def __aiter__(self) -> Messages:  # typing.Self is newer than 3.10
        return self

    async def __anext__(self) -> Any:
        inbox = self._inbox
        if not inbox and not await inbox.wait():
            raise inbox.error or StopAsyncIteration
        message = inbox.take()
        if type(message) is ResultMessage:
            self._turns.result_taken()
        return message

    async def aclose(self) -> None:
        """Do nothing; there for those who close what they iterate over."""


class Response:
    """The messages of one turn, up to and including the result that answers it.

    What is left of an interrupted turn, and results of turns that nobody asked for, are passed over.
    """

    def __init__(self, inbox: Inbox, turns: TurnTracker) -> None:
        self._inbox = inbox
        self._turns = turns
        self._done = False
        # Of the turn before, whose reader has left at its result.
        inbox.pass_over()

    def __aiter__(self) -> Response:  # typing.Self is newer than 3.10
        return self

    async def __anext__(self) -> Any:
        if self._done:
            raise await self._inbox.outcome() or StopAsyncIteration
        inbox = self._inbox
        while inbox or await inbox.wait():
            skip = self._turns.skip_next
            message = inbox.take()
            if type(message) is ResultMessage:
                kind = self._turns.result_taken()
                if skip or kind is ResultKind.BACKGROUND:
                    inbox.pass_over()
                    continue
                self._done = True
                return message
            if not skip:
                return message
        if inbox.error is None and not inbox.closed:
            raise IncompleteTurnError("The agent ended before it gave a result")
        raise inbox.error or StopAsyncIteration

    async def aclose(self) -> None:
        """Do nothing; there for those who close what they iterate over."""
