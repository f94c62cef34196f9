"""An inbox that looks at what it takes in: for API failures that are to be raised, and calls that fail in a row."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from claude_wrapper.errors import ApiError, NoProgressError
from claude_wrapper.messages import AssistantMessage, ResultMessage, UserMessage
from claude_wrapper.wire.blocks import ToolResultBlock

from .ending import Ending, why
from .home import Home
from .inbox import Inbox

__all__ = ["StrictInbox", "Strictness"]


class Strictness(msgspec.Struct, frozen=True):
    """What is not put up with."""

    raise_on_api_error: bool = False
    max_consecutive_tool_errors: int | None = None

    def __bool__(self) -> bool:
        return self.raise_on_api_error or self.max_consecutive_tool_errors is not None


class StrictInbox(Inbox):
    """Puts an API failure behind the result that reports it, and says when too many calls have failed in a row."""

    def __init__(
        self,
        max_unread_bytes: int,
        home: Home,
        strictness: Strictness,
        stop: Callable[[NoProgressError], object],
    ) -> None:
        super().__init__(max_unread_bytes, home)
        self._raises = strictness.raise_on_api_error
        self._limit = strictness.max_consecutive_tool_errors
        self._stop = stop
        self._stopped = False
        self._fault: str | None = None
        self._failed: dict[str | None, int] = {}
        """How many calls have failed in a row, for the agent and for each subagent."""

    def put(self, messages: Iterable[Any], size: int) -> None:
        """Add messages, and what follows from them."""
        out: list[Any] = []
        for message in messages:
            out.append(message)
            kind = type(message)
            if kind is ResultMessage:
                out += self._failures(message)
            elif kind is AssistantMessage:
                self._fault = message.error
            elif kind is UserMessage and self._limit is not None:
                self._count(message, self._limit)
        super().put(out, size)

    def take(self) -> Any:
        """Take the oldest message; raises the failure that stands in its place."""
        item = super().take()
        if type(item) is _Failure:
            raise item.error
        return item

    def take_all(self) -> list[Any]:
        """Take everything up to the next failure; raises that one when it is the next."""
        taken: list[Any] = []
        while self and not self._failure_is_next:
            taken.append(self._items.popleft())
        if not taken:
            self.take()
        return taken

    def pass_over(self) -> None:
        """Forget the failure that comes next, if one does."""
        if self._failure_is_next:
            self._items.popleft()

    async def outcome(self) -> Exception | None:
        """Take the failure that comes next, or tell what else is wrong."""
        if not self._failure_is_next:
            return await super().outcome()
        error: Exception = self._items.popleft().error
        return error

    @property
    def _failure_is_next(self) -> bool:
        return bool(self) and type(self._items[0]) is _Failure

    def _failures(self, result: ResultMessage) -> list[_Failure]:
        self._failed.clear()
        if not (self._raises and result.is_error):
            return []
        end = Ending(
            code=None,
            tail=None,
            result=dataclasses.asdict(result),
            fault=self._fault,
            failure=None,
            stopped=True,
            turn_is_open=False,
        )
        error = why(end)
        return [_Failure(error)] if isinstance(error, ApiError) else []

    def _count(self, message: UserMessage, limit: int) -> None:
        results = [block for block in message.content if type(block) is ToolResultBlock]
        whose = message.parent_tool_use_id
        for result in results:
            failed = self._failed[whose] = self._failed.get(whose, 0) + 1 if result.is_error else 0
            if failed >= limit and not self._stopped:
                self._stopped = True
                self._stop(
                    NoProgressError(f"{failed} tool calls in a row have failed; the agent was stopped")
                )


class _Failure(msgspec.Struct):
    """Stands behind a result."""

    error: Exception
