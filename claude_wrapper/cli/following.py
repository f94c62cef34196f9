"""Follows a run to its end, whichever that is: a result, a failure, a signal, or the clock."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import anyio
import msgspec

from claude_wrapper.errors import ClaudeSDKError
from claude_wrapper.messages import ResultMessage
from claude_wrapper.oneshot import query
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.wire.control import ControlRequestFrame
from claude_wrapper.wire.messages import PromptBody, PromptFrame
from claude_wrapper.wire.requests_steer import Interrupt

from .ending import Ending
from .view import View

__all__ = ["follow"]

_WIND_DOWN = 5.0
"""Seconds that an interrupted agent has to say what it did."""


def follow(prompt: str, options: ClaudeAgentOptions, view: View, timeout: float | None = None) -> Ending:
    """Run an agent and show it. Nothing that is expected to go wrong is raised; see the ending."""
    run = _Run(prompt, options, view)
    with view, _warnings_shown(view):
        anyio.run(run.follow, timeout)
        run.finish()
    return run.ending


@contextmanager
def _warnings_shown(view: View) -> Iterator[None]:
    """Show what the library logs as the view's own notes, which do not get in the way of what is drawn."""
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: view.note(record.getMessage())  # type: ignore[method-assign]  # no class needed
    logger = logging.getLogger("claude_wrapper")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Run:
    """One run. A stop is asked for once, gently; the second time, or in the end, the agent is left."""

    def __init__(self, prompt: str, options: ClaudeAgentOptions, view: View) -> None:
        self.ending = Ending()
        self._prompt = prompt
        self._options = options
        self._view = view

    async def follow(self, timeout: float | None) -> None:
        """Run the agent; comes back when it has ended and nothing of it is left."""
        self._input_is_over = anyio.Event()
        self._leave = anyio.CancelScope()
        async with anyio.create_task_group() as group:
            if os.name == "posix":  # elsewhere Ctrl-C arrives as KeyboardInterrupt
                group.start_soon(self._watch_signals)
            if timeout is not None:
                group.start_soon(self._watch_clock, timeout)
            with self._leave:
                await self._consume()
            group.cancel_scope.cancel()

    def finish(self) -> None:
        """Show the end, where there is still somebody to show it to."""
        if self.ending.output_error is None:
            try:
                self._view.end(self.ending)
            except OSError as error:
                self.ending.output_error = error

    async def _consume(self) -> None:
        try:
            async with aclosing(query(prompt=self._input(), options=self._options)) as messages:  # type: ignore[type-var]  # declared as an iterator, as the official SDK does
                async for message in messages:
                    self.ending.take(message)
                    if isinstance(message, ResultMessage):
                        self._input_is_over.set()
                    self._view.show(message)
        except ClaudeSDKError as error:
            self.ending.fail(error)
        except OSError as error:  # the library turns its own into ClaudeSDKError, so this is the view's
            self.ending.output_error = error

    async def _input(self) -> AsyncIterator[dict[str, Any]]:
        """Give the prompt, and keep the way to the agent open while it may have to be interrupted."""
        self.ending.has_begun = True
        if self.ending.is_cut_short:
            return
        yield msgspec.to_builtins(
            PromptFrame(
                message=PromptBody(role="user", content=self._prompt), session_id="", parent_tool_use_id=None
            )
        )
        await self._input_is_over.wait()
        if self.ending.result is None:
            interrupt = ControlRequestFrame(
                request_id="interrupt-1", request=msgspec.Raw(msgspec.json.encode(Interrupt()))
            )
            yield msgspec.json.decode(msgspec.json.encode(interrupt))

    async def _watch_signals(self) -> None:
        wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        with anyio.open_signal_receiver(*wanted) as signals:
            async for number in signals:
                if self.ending.is_cut_short:
                    self._leave.cancel()
                    continue
                self.ending.signal = int(number)
                self._stop("Interrupting; once more to stop at once")

    async def _watch_clock(self, seconds: float) -> None:
        await anyio.sleep(seconds)
        if not self.ending.is_cut_short:
            self.ending.is_timed_out = True
            self._stop(f"The {seconds:g} s are up; interrupting")

    def _stop(self, note: str) -> None:
        self._input_is_over.set()
        # Counted from here, whatever the agent does meanwhile.
        self._leave.deadline = anyio.current_time() + _WIND_DOWN
        try:
            self._view.note(note)
        except OSError as error:
            self.ending.output_error = error
            self._leave.cancel()
