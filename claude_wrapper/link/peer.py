"""The control peer: sends requests and answers those of the other side; the same class on both sides."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

import anyio
import msgspec
from msgspec import UNSET, UnsetType

from claude_wrapper.errors import ControlError, ControlTimeoutError
from claude_wrapper.wire.codec import encode, encode_line
from claude_wrapper.wire.control import (
    ControlCancelFrame,
    ControlFailure,
    ControlReply,
    ControlRequestFrame,
    ControlResponseFrame,
    ControlSuccess,
)

from .pending import PendingReplies, Slot

__all__ = ["Answer", "ControlPeer", "RequestRefusedError", "Serve"]

logger = logging.getLogger("claude_wrapper.link")

_WITHDRAW_SECONDS = 1.0
"""How long a caller that gives up may spend on telling the other side."""


class RequestRefusedError(Exception):
    """Raised by a handler to answer a request with an error; `code` travels as `error_code`, `beside` next to it."""

    def __init__(self, message: str, code: str | None = None, **beside: str) -> None:
        super().__init__(message)
        self.code = code
        self.beside = beside


class Answer:
    """A handler's answer with more than a body: `beside` goes next to it, `then` runs once it is sent."""

    __slots__ = ("beside", "body", "then")

    def __init__(
        self, body: Any = None, *, then: Callable[[], Awaitable[None]] | None = None, **beside: list[Any]
    ) -> None:
        self.body = body
        self.then = then
        self.beside = beside


Serve = Callable[[str, msgspec.Raw], Awaitable[Any]]
"""Answers a request of the other side, given its id and raw body: a body, an Answer, or None for no body."""


class StartTask(Protocol):
    """Starts a task that the owner of the peer will end."""

    def __call__(self, function: Callable[..., Awaitable[None]], *args: Any) -> object: ...


class ControlPeer:
    """One side of the control channel.

    The owner feeds it the control frames that it read (`receive`, which never waits) and gives it a
    way to write a line and to start a task. Requests of the other side each run in a task of their
    own; a failure costs one answer. After `fail`, every waiting and every later request raises the
    same error.
    """

    def __init__(
        self,
        send: Callable[[bytes], Awaitable[None]],
        serve: Serve,
        start_task: StartTask,
        new_id: Callable[[], str],
    ) -> None:
        self._send = send
        self._serve = serve
        self._start_task = start_task
        self._new_id = new_id
        self._pending: PendingReplies[ControlReply] = PendingReplies()
        self._running: dict[str, anyio.CancelScope] = {}
        self._leaving = False

    @property
    def waiting(self) -> int:
        """How many own requests have no reply yet."""
        return len(self._pending)

    @property
    def fatal(self) -> Exception | None:
        """Why the other side cannot answer any more."""
        return self._pending.fatal

    @property
    def serving(self) -> list[str]:
        """The ids of the other side's requests that are being answered."""
        return list(self._running)

    async def request(
        self,
        body: Any,
        *,
        timeout: float | None = None,
        on_answer: Callable[[msgspec.Raw], object] | None = None,
        revocation: Any = None,
    ) -> msgspec.Raw | None:
        """Send a request and return the raw body of its answer, None where it has none.

        `timeout` is in seconds, None waits without bound. Raises ControlError when the other side
        answers with an error, ControlTimeoutError when it does not answer in time, and the error
        given to `fail` when it cannot answer any more. A caller that stops waiting, by timeout or
        cancellation, withdraws the request: with a cancel frame, or with the request `revocation`.

        `on_answer` is called with the body of a good answer the moment it comes: before what comes after
        it is looked at, while the caller goes on later. It must not raise.
        """
        raw = encode(body)
        subtype = _subtype(body)
        done = anyio.Event()
        slot = self._pending.open(self._new_id(), done.set)
        if on_answer is not None:
            slot.on_value = partial(_announce, on_answer)
        logger.debug("request %s: %s", slot.request_id, subtype)
        try:
            if not slot.done:
                await self._send_request(slot, raw)
            with anyio.move_on_after(timeout):
                await done.wait()
        finally:
            if self._pending.close(slot) and not self._leaving:
                await self._withdraw(slot.request_id, revocation)
        if slot.error is not None:
            raise slot.error
        if slot.value is None:
            raise ControlTimeoutError(
                f"No answer to the control request {subtype!r} within {timeout:g} seconds", subtype
            )
        return _body(slot.value, subtype)

    async def _send_request(self, slot: Slot[ControlReply], raw: bytes) -> None:
        try:
            await self._send(
                encode_line(ControlRequestFrame(request_id=slot.request_id, request=msgspec.Raw(raw)))
            )
        except Exception:
            # Writing fails because the other side has ended; why it has is what all its requests fail with.
            if slot.error is None:
                raise

    def receive(self, frame: ControlRequestFrame | ControlResponseFrame | ControlCancelFrame) -> None:
        """Take in a control frame of the other side. Never waits, never raises."""
        if isinstance(frame, ControlRequestFrame):
            # The scope exists before the task runs, so that a cancellation right behind the request finds it.
            scope = self._running[frame.request_id] = anyio.CancelScope()
            self._start_task(self._answer, frame, scope)
        elif isinstance(frame, ControlResponseFrame):
            if not self._pending.resolve(frame.response.request_id, frame.response):
                logger.debug("a reply to the unknown request %s was dropped", frame.response.request_id)
        else:
            running = self._running.get(frame.request_id)
            if running is not None:
                running.cancel()

    def fail(self, error: Exception) -> None:
        """The other side cannot answer any more: fail all that waits, now and later."""
        self._pending.fail_all(error)

    def leave(self) -> None:
        """This side ends at once: requests that are given up from now on are not withdrawn."""
        self._leaving = True

    def cancel_serving(self) -> None:
        """Stop answering the other side's requests."""
        for scope in list(self._running.values()):
            scope.cancel()

    async def _answer(self, frame: ControlRequestFrame, scope: anyio.CancelScope) -> None:
        try:
            with scope:
                answer, then = await self._outcome(frame)
                await self._send(encode_line(ControlResponseFrame(response=answer)))
                if then is not None:
                    await then()
        except Exception:
            # Nobody is left to tell: the link is closing, or the answer cannot be encoded.
            logger.debug("the answer to request %s was not sent", frame.request_id, exc_info=True)
        finally:
            self._running.pop(frame.request_id, None)

    async def _outcome(
        self, frame: ControlRequestFrame
    ) -> tuple[ControlReply, Callable[[], Awaitable[None]] | None]:
        try:
            answer = await self._serve(frame.request_id, frame.request)
            if not isinstance(answer, Answer):
                answer = Answer(answer)
            body: msgspec.Raw | UnsetType = UNSET if answer.body is None else msgspec.Raw(encode(answer.body))
        except RequestRefusedError as refusal:
            logger.debug("request %s of the other side is refused", frame.request_id)
            code: str | UnsetType = UNSET if refusal.code is None else refusal.code
            failure = ControlFailure(
                request_id=frame.request_id, error=str(refusal), error_code=code, **refusal.beside
            )
            return failure, None
        except Exception as error:
            logger.debug("the handler of request %s failed", frame.request_id, exc_info=True)
            return ControlFailure(request_id=frame.request_id, error=str(error) or type(error).__name__), None
        return ControlSuccess(request_id=frame.request_id, response=body, **answer.beside), answer.then

    async def _withdraw(self, request_id: str, revocation: Any) -> None:
        frame: ControlCancelFrame | ControlRequestFrame = ControlCancelFrame(request_id=request_id)
        if revocation is not None:
            # Nobody waits for its answer.
            frame = ControlRequestFrame(request_id=self._new_id(), request=msgspec.Raw(encode(revocation)))
        with anyio.move_on_after(_WITHDRAW_SECONDS, shield=True):
            try:
                await self._send(encode_line(frame))
            except Exception:
                logger.debug("request %s could not be withdrawn", request_id, exc_info=True)


def _announce(on_answer: Callable[[msgspec.Raw], object], reply: ControlReply) -> None:
    if isinstance(reply, ControlSuccess) and reply.response is not UNSET:
        on_answer(reply.response)


def _subtype(body: Any) -> str | None:
    """Return the name of a request, which is a struct or a dict."""
    tag = (
        body.get("subtype")
        if isinstance(body, dict)
        else getattr(body, "__struct_config__", None) and body.__struct_config__.tag
    )
    return tag if isinstance(tag, str) else None


def _body(reply: ControlReply, subtype: str | None) -> msgspec.Raw | None:
    if isinstance(reply, ControlFailure):
        raise ControlError(reply.error, subtype, reply.error_code or None)
    return None if reply.response is UNSET else reply.response
