"""Requests that change which results are to be expected, or what the agent may ask."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

import anyio
import msgspec

from claude_wrapper.errors import ClaudeSDKError, MessageParseError, OptionsError
from claude_wrapper.mcp_config import McpServerConfig
from claude_wrapper.option_conflicts import validate
from claude_wrapper.options import ClaudeAgentOptions
from claude_wrapper.tool_server import tool_servers
from claude_wrapper.wire.bodies import decode_reply
from claude_wrapper.wire.codec import encode
from claude_wrapper.wire.requests_ask import McpSetServers
from claude_wrapper.wire.requests_steer import CancelAsyncMessage, Interrupt

from .callbacks import Callbacks
from .changes import Changes
from .turns import TurnTracker

__all__ = ["OnAnswer", "Steering", "check_grace", "check_request"]

logger = logging.getLogger("claude_wrapper.conversation")

_INTERRUPT_SECONDS = 2.0
"""How long an agent that nobody listens to any more may take to end its turn."""


def check_request(body: Any, timeout: Any) -> None:
    """Refuse what cannot be sent or is of a wrong type, and a time that is none; raises OptionsError."""
    if timeout is not None and not (_is_number(timeout) and timeout > 0):
        raise OptionsError(f"timeout must be a number of seconds greater than 0, got {timeout!r}")
    try:
        encode(body)
        if isinstance(body, msgspec.Struct):
            msgspec.convert(msgspec.to_builtins(body), type(body))
    except msgspec.ValidationError as error:
        raise OptionsError(f"The request {body.__struct_config__.tag} cannot be made so: {error}") from error
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise OptionsError(f"A control request must be JSON: {error}") from error


def check_grace(timeout: Any) -> None:
    """Refuse a time to end in that is none; raises OptionsError."""
    if timeout is not None and not (_is_number(timeout) and timeout >= 0):
        raise OptionsError(f"timeout must be a number of seconds of at least 0, got {timeout!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


OnAnswer = Callable[[msgspec.Raw], object]


class Request(Protocol):
    """Sends a control request and returns its answer."""

    async def __call__(
        self, body: Any, timeout: float | None = None, on_answer: OnAnswer | None = None
    ) -> dict[str, Any]: ...


class Steering:
    """Sends such requests, and takes note of what they change."""

    def __init__(
        self,
        request: Request,
        turns: TurnTracker,
        callbacks: Callbacks,
        changes: Changes,
        has_ended: Callable[[], bool],
    ) -> None:
        self._request = request
        self._turns = turns
        self._callbacks = callbacks
        self._changes = changes
        self._has_ended = has_ended

    async def interrupt(self, *, cancel_queued: bool = False, timeout: float | None = None) -> dict[str, Any]:
        """Interrupt the running turn, and take back the prompts that wait if these are not wanted either."""
        self._turns.interrupted()
        body = Interrupt(cancel_queued=True) if cancel_queued else Interrupt()
        return await self._request(body, timeout, self._interrupted)

    async def end_turn(self) -> bool:
        """Interrupt what runs, take back what waits, and wait a little for the result.

        For agents that nobody listens to any more: so their sessions hold all that was done. Returns
        whether the turn has ended; bounded, and not interrupted by cancellation.
        """
        with anyio.move_on_after(_INTERRUPT_SECONDS, shield=True):
            try:
                await self.interrupt(cancel_queued=True)
                await self._changes.until(lambda: not self._turns.turn_is_open or self._has_ended())
            except ClaudeSDKError:
                logger.debug("the turn could not be interrupted", exc_info=True)
        return not self._turns.turn_is_open

    async def cancel_prompt(self, uuid: str, timeout: float | None = None) -> bool:
        """Take back a prompt that has not begun; whether that could be done."""

        def answered(raw: msgspec.Raw) -> None:
            if _fields(raw).get("cancelled") is True:
                self._turns.prompts_cancelled([uuid])

        answer = await self._request(CancelAsyncMessage(message_uuid=uuid), timeout, answered)
        return answer.get("cancelled") is True

    def _interrupted(self, raw: msgspec.Raw) -> None:
        answer = _fields(raw)
        self._turns.still_queued(answer.get("still_queued") or [])
        self._turns.prompts_cancelled(answer.get("cancelled") or [])

    async def set_servers(
        self, servers: Mapping[str, McpServerConfig], timeout: float | None = None
    ) -> dict[str, Any]:
        """Replace the tool servers that were added since the start; OptionsError for what is none."""
        validate(ClaudeAgentOptions(mcp_servers=cast("Any", servers)))
        body = McpSetServers(servers={name: _config(server) for name, server in servers.items()})
        # The agent talks to the new ones before it answers.
        before = self._callbacks.added_servers
        self._callbacks.added_servers = tool_servers(servers, self._callbacks.servers)
        try:
            return await self._request(body, timeout)
        except BaseException:
            self._callbacks.added_servers = before
            raise


def _fields(raw: msgspec.Raw) -> dict[str, Any]:
    try:
        return decode_reply(raw, dict[str, Any])
    except MessageParseError:
        # The caller is told.
        return {}


def _config(server: McpServerConfig) -> dict[str, Any]:
    return {name: value for name, value in server.items() if name != "instance"}
