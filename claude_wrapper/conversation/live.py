"""A running conversation: joins the channel, the control peer, the callbacks and the inbox."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any

import anyio

from claude_wrapper.errors import (
    AgentExitedError,
    CLIConnectionError,
    NoProgressError,
    ResultError,
    RunTimeoutError,
)
from claude_wrapper.link.peer import ControlPeer
from claude_wrapper.wire.bodies import decode_reply
from claude_wrapper.wire.ids import new_uuid

from .background import Background
from .callbacks import Callbacks
from .changes import Changes
from .channels import AgentChannel
from .ending import Ending, why
from .feeding import feed
from .home import Home
from .inbox import Inbox
from .input_end import InputEnd
from .leaving import Leaving, stop
from .limits import Limits
from .mirror import MirrorTarget, StoreMirror
from .outgoing import Outgoing
from .prompts import check_prompt, composed, prompt_line
from .router import Router
from .steering import OnAnswer, Steering, check_request
from .streams import Messages, Response
from .strict_inbox import StrictInbox
from .turns import TurnTracker
from .watchdog import Watchdog

__all__ = ["Live"]

logger = logging.getLogger("claude_wrapper.conversation")


class Live:
    """One agent and all that runs for it. Opened once, closed once; usable from any task in between."""

    def __init__(
        self,
        channel: AgentChannel,
        callbacks: Callbacks,
        limits: Limits,
        mirrored_to: MirrorTarget | None = None,
        *,
        verbatim: bool = False,
    ) -> None:
        self._home = Home("This conversation")
        self._channel = channel
        self._callbacks = callbacks
        self._limits = limits
        self._verbatim = verbatim
        self._background = Background()
        callbacks.start = self._background.start
        self._inbox = (
            StrictInbox(limits.max_unread_bytes, self._home, limits.strictness, self._no_progress)
            if limits.strictness
            else Inbox(limits.max_unread_bytes, self._home)
        )
        self._turns = TurnTracker()
        self._mirror = (
            None if mirrored_to is None else StoreMirror(mirrored_to, self._inbox, self._background.start)
        )
        self._ended = anyio.Event()
        self._outgoing = Outgoing(
            channel, self._inbox, self._ended, lambda: self._peer.fatal, exit_seconds=limits.exit
        )
        ids = itertools.count(1)
        self._peer = ControlPeer(
            self._outgoing.send,
            callbacks.serve,
            self._background.start,
            lambda: f"req_{next(ids)}_{os.urandom(4).hex()}",
        )
        self._router = Router(
            self._peer,
            self._inbox,
            self._turns,
            max_frame_bytes=limits.max_frame_bytes,
            mirror=self._mirror,
        )
        self._changes = Changes()
        self._read_all = anyio.Event()
        self._closing = False
        self._closed = anyio.Event()
        self._input_end = InputEnd(channel, self._turns, self._changes, self._ended, limits.exit)
        self._watchdog = (
            Watchdog(limits.patience, self._turns, self._changes, self._waits_for_us)
            if limits.patience
            else None
        )
        self._overdue: RunTimeoutError | NoProgressError | None = None
        self.steering = Steering(self.request, self._turns, callbacks, self._changes, self._ended.is_set)
        self._leaving = Leaving(
            self.steering, self._turns, lambda: self.is_alive, self.close, self._closed_by_another
        )
        self.leave = self._leaving.leave
        self._paused = False
        self.server_info: dict[str, Any] = {}
        """The agent's answer to the handshake."""

    # -- life

    async def open(self, initialize: Any, check: Callable[[dict[str, Any]], None]) -> None:
        """Start reading and shake hands; raises, with the agent stopped, when it does not answer.

        `check` looks at the answer and raises when this agent will not do.
        """
        self._background.start(self._read)
        try:
            answer = await self._peer.request(initialize, timeout=self._limits.initialize)
            self.server_info = decode_reply(answer, dict[str, Any])
            check(self.server_info)
            version = self.server_info.get("claude_code_version")
            logger.debug("the agent %s of version %s has answered the handshake", self.pid, version)
        except BaseException:
            await self.close(grace=0)
            raise

    async def close(self, grace: float | None = None) -> None:
        """Stop the agent and everything that runs for it. Bounded; not interrupted by cancellation."""
        if not self._home.is_of_this_process:
            # A fork holds nothing of the agent.
            return
        self._home.check()
        with anyio.CancelScope(shield=True):
            if self._closing:
                await self._closed_by_another()
                return
            self._closing = self._inbox.closed = True
            self._inbox.release()
            try:
                await stop(self._channel, grace)
            finally:
                with anyio.move_on_after(self._limits.exit):
                    await self._read_all.wait()
                if self._mirror is not None:
                    await self._mirror.close()
                await self._background.stop()
                self._inbox.end(None)
                self._peer.fail(CLIConnectionError("The conversation is closed"))
                self._ended.set()
                self._closed.set()

    async def _closed_by_another(self) -> None:
        self._background.excuse()
        await self._closed.wait()

    def abandon(self, end: Callable[[], Awaitable[None]] | None = None) -> None:
        """Have it closed in the background, because nobody holds it any more. May be called from any thread.

        `end` does it, with what else there is to do.
        """
        if not self.is_open:
            return
        if not self._home.run(lambda: self._background.start(end or self.leave)):
            self._channel.kill()

    @property
    def is_alive(self) -> bool:
        """Whether the agent runs, and can be talked to from here."""
        return self._home.is_of_this_process and not self._ended.is_set() and not self._closing

    @property
    def is_open(self) -> bool:
        """Whether it has still to be closed, and can be from here."""
        return self._home.is_of_this_process and not self._closing

    @property
    def is_closed(self) -> bool:
        """Whether it was closed from here, by whomever."""
        return self._closing

    @property
    def pid(self) -> int | None:
        """The agent's process id."""
        return self._channel.pid

    @property
    def session_id(self) -> str | None:
        """The session's id, once the agent has told it."""
        return self._router.session_id

    @property
    def turn_is_open(self) -> bool:
        """Whether a prompt still waits for its result."""
        return self._turns.turn_is_open

    def kill(self) -> None:
        """End the agent at once; what waits for it fails with the reason. May be called from any thread."""
        self._home.check_process()
        self._channel.kill()

    def adopt_context(self) -> None:
        """Run callbacks from now on in the context variables of the caller."""
        self._background.adopt_context()

    def watch(self, *, whole_run: bool) -> None:
        """Stop the agent when it works for too long; the clock runs until it ends, or for each turn anew."""
        if self._watchdog is not None:
            self._background.start(self._watch, self._watchdog, whole_run)

    # -- what users ask

    async def request(
        self, body: Any, timeout: float | None = None, on_answer: OnAnswer | None = None
    ) -> dict[str, Any]:
        """Send a control request and return its decoded answer; `on_answer` gets it the moment it comes."""
        self._home.check()
        check_request(body, timeout)
        self._inbox.release()
        answer = await self._peer.request(
            body, timeout=self._limits.control if timeout is None else timeout, on_answer=on_answer
        )
        return decode_reply(answer, dict[str, Any])

    async def send_prompt(self, frame: dict[str, Any], *, tag: bool = False) -> str | None:
        """Write one prompt and return its id. `tag` gives it one, so that its result can be told from others."""
        self._home.check()
        check_prompt(frame)
        if self._inbox.ended:
            raise self._outgoing.why_it_has_ended()
        is_prompt = frame.get("type") == "user"
        if is_prompt and tag and not frame.get("uuid"):
            own = new_uuid()
            self._router.own_uuids.add(own)
            frame = {**frame, "uuid": own}
        line = prompt_line(composed(frame) if self._verbatim else frame)
        if is_prompt:
            self._turns.prompt_sent(frame.get("uuid"))
            self._changes.tell()
        await self._outgoing.send(line)
        return frame.get("uuid")

    def feed_prompts(self, prompts: AsyncIterable[dict[str, Any]]) -> None:
        """Write prompts as an iterable gives them, then end the input; its failure ends the messages."""
        self._background.start(self._feed, prompts)

    def end_input(self) -> None:
        """Say that no more prompts come: the input is closed when the run is over.

        Not before, though the agent may have nothing to ask: it could not be interrupted any more.
        """
        self._background.start(self._input_end.when_over)
        self._background.start(self._input_end.stop_if_it_lingers, lambda: self._closing)

    async def next_batch(self) -> list[Any]:
        """Take all messages that are there, waiting for the first; [] at the end, or raises how it ended."""
        if await self._inbox.wait():
            return self._inbox.take_all()
        if self._inbox.error is not None:
            raise self._inbox.error
        return []

    def messages(self) -> Messages:
        """Give messages until the agent's output ends; raises how it ended, if badly."""
        return Messages(self._inbox, self._turns)

    def response(self) -> Response:
        """Give the messages of one turn, up to and including the result that answers it."""
        return Response(self._inbox, self._turns)

    # -- reading

    async def _read(self) -> None:
        try:
            await self._read_to_the_end()
            # What nobody closes is closed when the event loop ends, which only a task is told of.
            await self._closed.wait()
        except BaseException:
            if not self._closing:
                await self._leaving.leave_with_the_loop(self._read_to_the_end, self._read_all.is_set)
            raise

    async def _read_to_the_end(self) -> None:
        failure: Exception | None = None
        try:
            while chunk := await self._channel.receive():
                before = self._turns.changes
                self._router.feed(chunk)
                if self._turns.changes != before:
                    self._changes.tell()
                if self._watchdog is not None:
                    self._watchdog.hear()
                if self._inbox.is_full and self._may_pause:
                    await self._pause()
            self._router.finish()
        except Exception as error:
            logger.debug("reading from the agent failed", exc_info=True)
            failure = error
        except BaseException:
            if self._closing:
                # Nobody shall wait for what is not read any more.
                self._read_all.set()
                self._ended.set()
                self._changes.tell()
            raise
        await self._end(failure)

    @property
    def _may_pause(self) -> bool:
        """Whether nothing that happens depends on what the agent would write next."""
        return not (
            self._peer.waiting or self._outgoing.is_writing or self._closing or self._callbacks.are_registered
        )

    async def _pause(self) -> None:
        self._paused = True
        try:
            await self._inbox.drained()
        finally:
            self._paused = False

    def _waits_for_us(self) -> bool:
        return self._paused or bool(self._peer.serving)

    async def _end(self, failure: Exception | None) -> None:
        """The agent's output is over: find out why, and tell everybody who waits."""
        code = await self._channel.wait(self._limits.exit)
        logger.debug("the output of the agent %s is over, its exit code is %s", self.pid, code)
        error = None if self._closing else self._overdue or why(self._ending(code, failure))
        # A session that cannot be gone on with is told as a result in the place of the handshake's answer.
        refused = error if isinstance(error, ResultError) and not self.server_info else None
        self._peer.fail(self._overdue or refused or AgentExitedError("The agent has ended", code, self._tail))
        self._read_all.set()
        if self._mirror is not None:
            await self._mirror.finish()
        self._inbox.end(error)
        self._ended.set()
        self._changes.tell()

    def _ending(self, code: int | None, failure: Exception | None) -> Ending:
        return Ending(
            code=code,
            tail=self._tail,
            result=self._router.last_result,
            fault=self._router.last_fault,
            failure=failure,
            stopped=self._input_end.has_stopped,
            turn_is_open=self._turns.turn_is_open,
        )

    async def _watch(self, watchdog: Watchdog, whole_run: bool) -> None:
        error = await watchdog.overdue(self._ended.is_set, whole_run=whole_run)
        if error is not None:
            await self._stop_for(error)

    def _no_progress(self, error: NoProgressError) -> None:
        self._background.start(self._stop_for, error)

    async def _stop_for(self, error: RunTimeoutError | NoProgressError) -> None:
        if self._closing:
            return
        logger.info("%s", error)
        self._overdue = error
        error.session_id = self.session_id
        self._inbox.doom = error
        await self._channel.stop(None if await self.steering.end_turn() else 0)

    # -- writing

    async def _feed(self, prompts: AsyncIterable[dict[str, Any]]) -> None:
        try:
            await feed(prompts, self.send_prompt)
            self.end_input()
        except Exception as error:
            logger.debug("the prompts ended in an error", exc_info=True)
            self._inbox.end(error)

    @property
    def _tail(self) -> str | None:
        return self._channel.stderr_tail or None
