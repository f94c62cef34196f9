"""Answers the agent's requests: the user's permission callback, hook callbacks and in-process tools."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from claude_wrapper.approval import (
    CanUseTool,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ToolPermissionContext,
)
from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.tool_server import ToolServer
from claude_wrapper.tool_server_package import Start
from claude_wrapper.wire.bodies import BadRequest, UnknownRequest
from claude_wrapper.wire.codec import encode
from claude_wrapper.wire.hook_outputs import HookOutput, PreToolUseOutput
from claude_wrapper.wire.permissions import AllowReply, DenyReply
from claude_wrapper.wire.permissions import CanUseTool as CanUseToolBody
from claude_wrapper.wire.requests_agent import HookCallback, McpMessage, decode_agent_request

from .calling import CallTimeoutError, awaited, call
from .hook_registry import HookRegistry

__all__ = ["Callbacks"]

logger = logging.getLogger("claude_wrapper.conversation")

_AGENTS_SECONDS = 0.5
"""An agent that watches over the time itself takes its question back within this; then its word counts."""
_HOOK_NAMES: dict[str, str] = {"async_": "async", "continue_": "continue"}
"""Python keywords cannot be used as names of fields; users write them with an underscore."""


class Callbacks:
    """Serves the agent's control requests. What goes wrong in a callback is answered as an error, and logged."""

    def __init__(
        self, can_use_tool: CanUseTool | None, hooks: HookRegistry, servers: Mapping[str, ToolServer]
    ) -> None:
        self._can_use_tool = can_use_tool
        self._hooks = hooks.hooks
        self._servers = servers
        self.added_servers: Mapping[str, ToolServer] = {}
        """In-process servers that the user has added since the start."""
        self.start: Start = _refuse_to_start
        """Runs what a server does beside its answers; the conversation says how."""

    @property
    def servers(self) -> Mapping[str, ToolServer]:
        """All in-process servers."""
        return {**self._servers, **self.added_servers}

    @property
    def are_registered(self) -> bool:
        """Whether the agent may ask anything, so that its input has to stay open."""
        return bool(self._can_use_tool or self._hooks or self._servers or self.added_servers)

    async def serve(self, request_id: str, raw: msgspec.Raw) -> msgspec.Raw:
        """Answer one request; raises RequestRefusedError."""
        match decode_agent_request(raw):
            case CanUseToolBody() as request:
                return await self._permission(request)
            case HookCallback() as request:
                return await self._hook(request)
            case McpMessage() as request:
                return await self._tool_message(request)
            case BadRequest(subtype=subtype, error=error):
                raise RequestRefusedError(f"The {subtype or 'control'} request cannot be read: {error}")
            case UnknownRequest(subtype=subtype):
                raise RequestRefusedError(f"Unsupported control request subtype: {subtype}")
            case request:
                raise RequestRefusedError(
                    f"Unsupported control request subtype: {request.__struct_config__.tag}"
                )

    async def _permission(self, request: CanUseToolBody) -> msgspec.Raw:
        decide = self._can_use_tool
        if decide is None:
            raise RequestRefusedError("canUseTool callback is not provided")

        async def decision() -> msgspec.Raw:
            result = await awaited(decide(request.tool_name, request.input, _permission_context(request)))
            return _encoded(_permission_reply(result, request.input))

        return await call("can_use_tool", decision)

    async def _hook(self, request: HookCallback) -> msgspec.Raw:
        hook = self._hooks.get(request.callback_id)
        if hook is None:
            raise RequestRefusedError(f"No hook callback has the id {request.callback_id!r}")
        what = f"The {hook.event} hook {getattr(hook.callback, '__qualname__', hook.callback)!s}"
        tool_use_id = None if request.tool_use_id is UNSET else request.tool_use_id

        async def output() -> msgspec.Raw:
            said = await awaited(hook.callback(request.input, tool_use_id, {"signal": None}))
            return _encoded(_hook_reply(said, must_answer=hook.must_answer))

        try:
            return await call(what, output, hook.timeout, _AGENTS_SECONDS)
        except CallTimeoutError as late:
            if hook.event != "PreToolUse":
                raise
            # Agents that watch over the time themselves refuse the call too: nobody has looked at it.
            return _encoded(_denial(str(late)))

    async def _tool_message(self, request: McpMessage) -> msgspec.Raw:
        server = self.added_servers.get(request.server_name) or self._servers.get(request.server_name)
        if server is None:
            return _encoded({"mcp_response": _no_server(request)})

        async def answer() -> msgspec.Raw:
            reply = await server.handle(request.message, self.start)
            return _encoded({"mcp_response": {"jsonrpc": "2.0", "result": {}} if reply is None else reply})

        return await call(f"The server {request.server_name}", answer)


def _refuse_to_start(function: Any) -> None:
    raise RuntimeError(f"Nothing can be started outside a conversation: {function}")


def _encoded(body: Any) -> msgspec.Raw:
    """Encode an answer here, so that one that is no JSON counts as a failure of the callback."""
    return msgspec.Raw(encode(body))


def _permission_reply(result: Any, tool_input: dict[str, Any]) -> AllowReply | DenyReply:
    match result:
        case PermissionResultAllow(updated_input=updated, updated_permissions=updates):
            if not isinstance(updated, dict | None):
                raise TypeError(f"updated_input must be a dict, it is a {type(updated).__name__}")
            return AllowReply(
                updated_input=tool_input if updated is None else updated,
                updated_permissions=_updates(updates),
            )
        case PermissionResultDeny(message=message, interrupt=interrupt):
            return DenyReply(message=str(message), interrupt=True if interrupt else UNSET)
        case _:
            raise TypeError(
                "can_use_tool must return PermissionResultAllow or PermissionResultDeny, "
                f"it returned {type(result).__name__}"
            )


def _no_server(request: McpMessage) -> dict[str, Any]:
    error = {"code": -32601, "message": f"Server {request.server_name!r} not found"}
    return {"jsonrpc": "2.0", "id": request.message.get("id"), "error": error}


def _updates(updates: Any) -> list[dict[str, Any]] | UnsetType:
    if updates is None:
        return UNSET
    if not isinstance(updates, list | tuple) or not all(isinstance(u, PermissionUpdate) for u in updates):
        raise TypeError(
            f"updated_permissions must be a list of PermissionUpdate, got a {type(updates).__name__}"
        )
    try:
        return [update.to_dict() for update in updates]
    except ValueError as error:
        # The call was allowed; what cannot be sent are changes for later ones.
        logger.warning("the call is allowed, but none of its permission updates is in effect: %s", error)
        return UNSET


def _hook_reply(output: Any, *, must_answer: bool) -> dict[str, Any]:
    if output is None and not must_answer:
        return {}
    if not isinstance(output, Mapping):
        raise TypeError(f"a hook callback must return a dict, it returned {type(output).__name__}")
    return {_HOOK_NAMES.get(str(key), str(key)): value for key, value in output.items()}


def _denial(reason: str) -> HookOutput:
    decision = PreToolUseOutput(permission_decision="deny", permission_decision_reason=reason)
    return HookOutput(hook_specific_output=decision)


def _permission_context(request: CanUseToolBody) -> ToolPermissionContext:
    suggestions = request.permission_suggestions or []
    return ToolPermissionContext(
        suggestions=[PermissionUpdate.from_dict(msgspec.to_builtins(update)) for update in suggestions],
        tool_use_id=request.tool_use_id or None,
        agent_id=request.agent_id or None,
        blocked_path=request.blocked_path or None,
        decision_reason=request.decision_reason or None,
        title=request.title or None,
        display_name=request.display_name or None,
        description=request.description or None,
    )
