"""One run of an agent: prompts in, messages out, and then the agent is gone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterator
from functools import partial
from types import TracebackType
from typing import Any

from claude_wrapper.errors import ClientUseError, IncompleteTurnError

from .live import Live
from .prompts import check_prompts, prompt_frame

__all__ = ["Run"]

_END: Any = object()


class Run(AsyncGenerator[Any, None]):
    """The messages of a run. Its end, or leaving it, ends the agent; one that works is interrupted first.

    This has the methods of an async generator and is none: of one that is left early, event loops
    complain, or forget to close it when they end. This one ends its agent when it is dropped.
    """

    def __init__(
        self,
        prompt: str | AsyncIterable[dict[str, Any]],
        start: Callable[[], Awaitable[Live]],
        release: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._prompt = prompt
        self._start = start
        self._release = release
        self._live: Live | None = None
        self._messages: Iterator[Any] = iter(())
        self._is_busy = False
        self._is_over = False

    def __aiter__(self) -> Run:  # typing.Self is newer than 3.10
        return self

    async def __anext__(self) -> Any:
        message = next(self._messages, _END)
        if message is _END:
            self._messages = iter(await self.next_batch())
            message = next(self._messages, _END)
            if message is _END:
                raise StopAsyncIteration
        return message

    async def next_batch(self) -> list[Any]:
        """Take all messages that are there, waiting for the first; [] at the end, or raises how it ended."""
        if self._is_over:
            return []
        if self._is_busy:
            raise ClientUseError("Another task is reading the messages of this run; let one task read them")
        self._is_busy = True
        try:
            live = self._live or await self._begin()
            batch = await live.next_batch()
            if not batch and live.turn_is_open and live.is_closed:
                raise IncompleteTurnError("The agent was closed before it gave a result")
        except BaseException:
            await self._end()
            raise
        finally:
            self._is_busy = False
        if not batch:
            await self._end()
        return batch

    async def aclose(self) -> None:
        """End the run, wherever it is. Whoever reads is told by an IncompleteTurnError."""
        if self._is_busy and self._live is None:
            raise ClientUseError("Another task is starting this run; cancel that one")
        await self._end()

    async def asend(self, value: None) -> Any:
        """Give the next message; there is nothing that could be sent."""
        return await anext(self)

    async def athrow(self, typ: Any, val: Any = None, tb: TracebackType | None = None) -> Any:
        """End the run and raise."""
        await self.aclose()
        error = typ if val is None else val
        if isinstance(error, type):
            error = error()
        raise error.with_traceback(tb)

    async def _begin(self) -> Live:
        check_prompts(self._prompt)
        live = self._live = await self._start()
        live.adopt_context()
        live.watch(whole_run=True)
        if isinstance(self._prompt, str):
            await live.send_prompt(prompt_frame(self._prompt, ""))
            live.end_input()
        else:
            live.feed_prompts(self._prompt)
        return live

    async def _end(self) -> None:
        self._is_over = True
        self._messages = iter(())
        if self._live is not None:
            await _leave(self._live, self._release)

    def __del__(self) -> None:
        live = getattr(self, "_live", None)
        if live is not None and not self._is_over:
            live.abandon(partial(_leave, live, self._release))


async def _leave(live: Live, release: Callable[[], Awaitable[None]] | None) -> None:
    try:
        await live.leave()
    finally:
        if release is not None:
            await release()
