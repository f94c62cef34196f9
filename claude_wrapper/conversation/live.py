"""A running conversation: joins the channel, the control peer, the callbacks and the inbox."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import AsyncIterable, Callable
from typing import Any

import anyio
import msgspec

from claude_wrapper.errors import (
    AgentExitedError,
    ClaudeSDKError,
    CLIConnectionError,
    IncompleteTurnError,
    ProcessError,
    ResultError,
)
from claude_wrapper.link.peer import ControlPeer
from claude_wrapper.wire.codec import encode_line
from claude_wrapper.wire.framing import DEFAULT_LIMIT
from claude_wrapper.wire.ids import new_uuid

from .background import Background
from .callbacks import Callbacks
from .channels import AgentChannel
from .inbox import Inbox
from .prompts import check_prompt
from .router import Router
from .streams import Messages, Response
from .turns import TurnTracker

__all__ = ["Limits", "Live"]

logger = logging.getLogger("claude_wrapper.conversation")


class Limits(msgspec.Struct, frozen=True):
    """Bounds of a conversation, in seconds and bytes."""

    initialize: float = 60.0
    control: float | None = 60.0
    exit: float = 5.0
    """How long an agent may take to exit once it has nothing left to do."""
    max_frame_bytes: int = DEFAULT_LIMIT
    max_unread_bytes: int = 64 * 1024 * 1024


class Live:
    """One agent and all that runs for it. Opened once, closed once; usable from any task in between."""

    def __init__(self, channel: AgentChannel, callbacks: Callbacks, limits: Limits) -> None:
        self._channel = channel
        self._callbacks = callbacks
        self._limits = limits
        self._background = Background()
        self._inbox = Inbox(limits.max_unread_bytes)
        self._turns = TurnTracker()
        ids = itertools.count(1)
        self._peer = ControlPeer(
            self._send,
            callbacks.serve,
            self._background.start,
            lambda: f"req_{next(ids)}_{os.urandom(4).hex()}",
        )
        self._router = Router(self._peer, self._inbox, self._turns, max_frame_bytes=limits.max_frame_bytes)
        self._changed = anyio.Event()
        self._ended = anyio.Event()
        self._closing = False
        self._stopped = False
        self.server_info: dict[str, Any] = {}
        """The agent's answer to the handshake."""

    # -- life

    async def open(self, initialize: Any, *, must_block: bool = False) -> None:
        """Start reading and shake hands; raises, with the agent stopped, when it does not answer.

        `must_block`: a hook relies on the agent to block when the hook fails, so the agent has to say
        that it does.
        """
        self._background.start(self._read)
        try:
            answer = await self._peer.request(initialize, timeout=self._limits.initialize)
            self.server_info = {} if answer is None else msgspec.json.decode(answer, type=dict[str, Any])
            if must_block:
                self._check_blocking()
        except BaseException:
            await self.close(grace=0)
            raise

    async def close(self, grace: float | None = None) -> None:
        """Stop the agent and everything that runs for it. Bounded; not interrupted by cancellation."""
        if self._closing:
            with anyio.CancelScope(shield=True):
                await self._ended.wait()
            return
        self._closing = self._inbox.closed = True
        with anyio.CancelScope(shield=True):
            self._inbox.release()
            try:
                await self._channel.stop(grace)
            finally:
                with anyio.move_on_after(self._limits.exit):
                    await self._ended.wait()
                await self._background.stop()
                self._inbox.end(None)
                self._peer.fail(CLIConnectionError("The conversation is closed"))
                self._ended.set()

    @property
    def pid(self) -> int | None:
        """The agent's process id."""
        return self._channel.pid

    @property
    def turn_is_open(self) -> bool:
        """Whether a prompt still waits for its result."""
        return self._turns.turn_is_open

    def kill(self) -> None:
        """End the agent at once; what waits for it fails with the reason."""
        self._channel.kill()

    def adopt_context(self) -> None:
        """Run callbacks from now on in the context variables of the caller."""
        self._background.adopt_context()

    # -- what users ask

    async def request(self, body: Any, timeout: float | None = None) -> Any:
        """Send a control request and return its decoded answer."""
        self._inbox.release()
        answer = await self._peer.request(body, timeout=self._limits.control if timeout is None else timeout)
        return None if answer is None else msgspec.json.decode(answer)

    async def interrupt(self, body: Any) -> None:
        """Interrupt the running turn."""
        self._turns.interrupted()
        await self.request(body)

    async def send_prompt(self, frame: dict[str, Any], *, tag: bool) -> None:
        """Write one prompt. `tag` gives it an id, so that its result can be told from others."""
        check_prompt(frame)
        if self._peer_error is not None:
            raise self._peer_error
        if frame.get("type") == "user":
            if tag and not frame.get("uuid"):
                own = new_uuid()
                self._router.own_uuids.add(own)
                frame = {**frame, "uuid": own}
            self._turns.prompt_sent(frame.get("uuid"))
        await self._send(encode_line(frame))

    def feed_prompts(self, prompts: AsyncIterable[dict[str, Any]], *, then_end: bool) -> None:
        """Write prompts as an iterable gives them, in the background; its failure ends the messages."""
        self._background.start(self._feed, prompts, then_end)

    async def end_input(self) -> None:
        """Say that no more prompts come: at once, or when the agent has nothing left to ask."""
        if self._callbacks.are_registered:
            self._background.start(self._end_input_when_over)
        else:
            await self._end_input()

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
        failure: Exception | None = None
        try:
            while chunk := await self._channel.receive():
                self._router.feed(chunk)
                self._changed.set()
                if self._inbox.is_full and not self._peer.waiting and not self._callbacks.are_registered:
                    await self._inbox.drained()
            self._router.finish()
        except Exception as error:
            logger.debug("reading from the agent failed", exc_info=True)
            failure = error
        await self._end(failure)

    async def _end(self, failure: Exception | None) -> None:
        """The agent's output is over: find out why, and tell everybody who waits."""
        code = await self._channel.wait(self._limits.exit)
        error = self._why(code, failure)
        self._inbox.end(error)
        self._peer.fail(AgentExitedError("The agent has ended", code, self._tail))
        self._ended.set()
        self._changed.set()

    def _why(self, code: int | None, failure: Exception | None) -> Exception | None:
        result = self._router.last_result
        if self._closing:
            return None
        if result is not None and result.get("is_error") and (code or self._stopped):
            return ResultError(_result_text(result), result, code, self._tail)
        if self._stopped:
            return None
        if code:
            return ProcessError(f"Command failed with exit code {code}", code, self._tail)
        if failure is not None:
            return failure if isinstance(failure, ClaudeSDKError) else _connection_error(failure)
        if self._turns.turn_is_open:
            return IncompleteTurnError("The agent ended without a result", code, self._tail)
        return None

    # -- writing

    @property
    def _peer_error(self) -> Exception | None:
        return self._inbox.error if self._inbox.ended else None

    async def _send(self, data: bytes) -> None:
        try:
            await self._channel.send(data)
        except CLIConnectionError:
            # The pipe breaks before the reader knows why; its reason is the better one.
            with anyio.move_on_after(self._limits.exit):
                await self._ended.wait()
            if self._inbox.error is not None:
                raise self._inbox.error from None
            raise

    async def _feed(self, prompts: AsyncIterable[dict[str, Any]], then_end: bool) -> None:
        try:
            async for frame in prompts:
                await self.send_prompt(frame, tag=False)
            if then_end:
                await self.end_input()
        except Exception as error:
            logger.debug("the prompts ended in an error", exc_info=True)
            self._inbox.end(error)

    async def _end_input_when_over(self) -> None:
        """Keep the agent's input open for answers until its run is over."""
        await self._until(lambda: self._turns.has_result)
        with anyio.move_on_after(_seconds_from_env("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", 600.0)):
            await self._until(lambda: self._turns.run_is_over)
        await self._end_input()

    async def _end_input(self) -> None:
        await self._channel.end_input()
        self._background.start(self._stop_if_it_lingers)

    async def _stop_if_it_lingers(self) -> None:
        """End an agent that has said all it had to say but does not exit."""
        while not self._ended.is_set():
            await self._until(lambda: self._turns.run_is_over)
            with anyio.move_on_after(self._limits.exit):
                await self._ended.wait()
            if self._turns.run_is_over and not self._ended.is_set() and not self._closing:
                self._stopped = True
                await self._channel.stop(0)
                return

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition that changes with what the agent writes, or for the end."""
        while not condition() and not self._ended.is_set():
            if self._changed.is_set():
                self._changed = anyio.Event()
            await self._changed.wait()

    def _check_blocking(self) -> None:
        info = self.server_info
        if not info.get("hook_on_failure_supported") or info.get("hooks_applied") is False:
            raise CLIConnectionError(
                'A hook has on_failure="block", but this agent does not say that it blocks when a hook fails'
            )

    @property
    def _tail(self) -> str | None:
        return self._channel.stderr_tail or None


def _result_text(result: dict[str, Any]) -> str:
    errors = result.get("errors")
    text = (
        "; ".join(map(str, errors)) if errors else result.get("result") or result.get("subtype") or "unknown"
    )
    return f"Claude Code returned an error result: {text}"


def _connection_error(failure: Exception) -> CLIConnectionError:
    error = CLIConnectionError(f"The connection to the agent broke: {failure}")
    error.__cause__ = failure
    return error


def _seconds_from_env(name: str, default: float) -> float:
    """Read a number of milliseconds; what is no number counts as unset."""
    try:
        return float(os.environ[name]) / 1000
    except (KeyError, ValueError):
        return default
