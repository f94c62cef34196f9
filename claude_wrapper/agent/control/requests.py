"""The host's control requests: each to its handler, and an answer to every one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from claude_wrapper.agent.hooks.registry import HookRegistry
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.wire.bodies import BadRequest, UnknownRequest
from claude_wrapper.wire.requests_host import decode_host_request
from claude_wrapper.wire.requests_steer import Initialize

from .answers import Answers
from .initialize import initialize
from .model_switch import ModelSwitch
from .server_requests import ServerRequests
from .settings_requests import SettingsRequests
from .steering import Steering

__all__ = ["Requests"]

Handler = Callable[[Any], Awaitable[Any]]

_log = logging.getLogger("claude_wrapper.agent.control")


class Requests:
    """Serves control requests. `await_first` wants the first line of the host to be `initialize`."""

    def __init__(self, parts: Parts, hooks: HookRegistry, end_session: Callable[[], None]) -> None:
        self._parts = parts
        self._hooks = hooks
        self._initialized = False
        self._handlers: dict[type, Handler] = {Initialize: self._initialize}
        self._handlers.update(Steering(parts, end_session).handlers())
        self._handlers.update(Answers(parts).handlers())
        self._handlers.update(ServerRequests(parts).handlers())
        self._handlers.update(SettingsRequests(parts).handlers())

    async def serve(self, request_id: str, raw: msgspec.Raw) -> Any:
        """Answer one request; raises RequestRefusedError."""
        request = decode_host_request(bytes(raw))
        if isinstance(request, BadRequest):
            raise self._bad(request)
        subtype = request.subtype if isinstance(request, UnknownRequest) else _subtype(request)
        _log.debug("in: %s (%s)", subtype, request_id)
        handler = self._handlers.get(type(request))
        if handler is None:
            raise RequestRefusedError(
                f"Unsupported control request subtype: {subtype}", "unsupported_request"
            )
        return await handler(request)

    def _bad(self, request: BadRequest) -> RequestRefusedError:
        text = f"{request.subtype or 'control request'}: {request.error}"
        if request.subtype == "set_model":
            return ModelSwitch(self._parts).refusal(text, "invalid_request")
        return RequestRefusedError(text, "invalid_mode" if request.subtype == "set_permission_mode" else None)

    async def _initialize(self, request: Initialize) -> Any:
        answer = await initialize(self._parts, self._hooks, request)
        if self._initialized:
            # A host that begins anew wants to know again what runs.
            answer.then = self._tell_tasks
        self._initialized = True
        return answer

    async def _tell_tasks(self) -> None:
        self._parts.tasks.tell()


def _subtype(request: Any) -> str:
    return str(type(request).__struct_config__.tag)
