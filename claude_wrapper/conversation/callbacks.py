"""Answers the agent's requests: the user's permission callback, hook callbacks and in-process tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from claude_wrapper.approval import (
    CanUseTool,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ToolPermissionContext,
)
from claude_wrapper.hook_matchers import HookMatcher
from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.tool_server import ToolServer
from claude_wrapper.wire.bodies import BadRequest, UnknownRequest
from claude_wrapper.wire.permissions import AllowReply, DenyReply
from claude_wrapper.wire.permissions import CanUseTool as CanUseToolBody
from claude_wrapper.wire.requests_agent import HookCallback, McpMessage, decode_agent_request

__all__ = ["Callbacks", "HookRegistry"]


class HookRegistry:
    """Gives every hook callback the id by which the agent calls it."""

    def __init__(self, hooks: Mapping[Any, list[HookMatcher]] | None) -> None:
        self.callbacks: dict[str, Callable[..., Awaitable[Any]]] = {}
        self.must_block = False
        """Whether a hook relies on the agent to block when it fails."""
        self.wire: dict[str, list[dict[str, Any]]] | None = None
        """The registration as the agent takes it; None without hooks."""
        if hooks:
            self.wire = {
                event: [self._matcher(m) for m in matchers] for event, matchers in hooks.items() if matchers
            }

    def _matcher(self, matcher: HookMatcher) -> dict[str, Any]:
        ids = []
        for callback in matcher.hooks:
            callback_id = f"hook_{len(self.callbacks)}"
            self.callbacks[callback_id] = callback
            ids.append(callback_id)
        body: dict[str, Any] = {"matcher": matcher.matcher, "hookCallbackIds": ids}
        if matcher.timeout is not None:
            body["timeout"] = matcher.timeout
        if matcher.on_failure is not None:
            body["onFailure"] = matcher.on_failure
            self.must_block = self.must_block or matcher.on_failure == "block"
        return body


class Callbacks:
    """Serves the agent's control requests. What goes wrong in a callback is raised, and so answered as an error."""

    def __init__(
        self, can_use_tool: CanUseTool | None, hooks: HookRegistry, servers: Mapping[str, ToolServer]
    ) -> None:
        self._can_use_tool = can_use_tool
        self._hooks = hooks.callbacks
        self._servers = servers

    @property
    def are_registered(self) -> bool:
        """Whether the agent may ask anything, so that its input has to stay open."""
        return self._can_use_tool is not None or bool(self._hooks) or bool(self._servers)

    async def serve(self, request_id: str, raw: msgspec.Raw) -> Any:
        """Answer one request."""
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

    async def _permission(self, request: CanUseToolBody) -> AllowReply | DenyReply:
        if self._can_use_tool is None:
            raise RequestRefusedError("canUseTool callback is not provided")
        result = await self._can_use_tool(request.tool_name, request.input, _permission_context(request))
        match result:
            case PermissionResultAllow(updated_input=updated, updated_permissions=updates):
                return AllowReply(
                    updated_input=request.input if updated is None else updated,
                    updated_permissions=UNSET
                    if updates is None
                    else [update.to_dict() for update in updates],
                )
            case PermissionResultDeny(message=message, interrupt=interrupt):
                return DenyReply(message=message, interrupt=True if interrupt else UNSET)
            case _:
                raise TypeError(
                    "can_use_tool must return PermissionResultAllow or PermissionResultDeny, "
                    f"it returned {type(result).__name__}"
                )

    async def _hook(self, request: HookCallback) -> dict[str, Any]:
        callback = self._hooks.get(request.callback_id)
        if callback is None:
            raise RequestRefusedError(f"No hook callback has the id {request.callback_id!r}")
        tool_use_id = None if request.tool_use_id is UNSET else request.tool_use_id
        output = await callback(request.input, tool_use_id, {"signal": None})
        if output is None:
            return {}
        if not isinstance(output, Mapping):
            raise TypeError(f"a hook callback must return a dict, it returned {type(output).__name__}")
        return {_HOOK_NAMES.get(str(key), str(key)): value for key, value in output.items()}

    async def _tool_message(self, request: McpMessage) -> dict[str, Any]:
        server = self._servers.get(request.server_name)
        if server is None:
            raise RequestRefusedError(f"No in-process server is named {request.server_name!r}")
        reply = await server.handle(request.message)
        return {"mcp_response": {"jsonrpc": "2.0", "result": {}} if reply is None else reply}


_HOOK_NAMES: dict[str, str] = {"async_": "async", "continue_": "continue"}
"""Python keywords cannot be used as names of fields; users write them with an underscore."""


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
