"""Questions of MCP servers to the user: hooks answer first, then the host; nobody else can."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from claude_wrapper.agent.hooking.events import HookEvents
from claude_wrapper.agent.host.link import HostLink, HostRefusedError
from claude_wrapper.wire.hook_session_inputs import ElicitationInput, ElicitationResultInput
from claude_wrapper.wire.requests_agent import Elicitation

__all__ = ["Elicitor"]

_NOBODY = {"action": "cancel"}


class Elicitor:
    """Puts them. Without a host they are cancelled, unless a hook answers."""

    def __init__(self, host: HostLink | None, hooks: HookEvents) -> None:
        self._host = host
        self._hooks = hooks

    async def ask(self, server: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer, as the server gets it."""
        schema = params.get("requestedSchema")
        schema = schema if isinstance(schema, dict) else UNSET
        common: dict[str, Any] = {
            "message": str(params.get("message") or ""),
            "mode": str(params.get("mode") or "form"),
            "url": _text(params.get("url")),
            "elicitation_id": _text(params.get("elicitationId")),
            "requested_schema": schema,
        }
        event = ElicitationInput(**self._hooks.fields.bare(), mcp_server_name=server, **common)
        outcome = await self._hooks.occur(event, server)
        if outcome.elicited is not None:
            return _reply(outcome.elicited.action, outcome.elicited.content)
        if outcome.block is not None or outcome.stop:
            return {"action": "decline"}
        answer = await self._of_host(server, common)
        result = ElicitationResultInput(
            **self._hooks.fields.bare(),
            mcp_server_name=server,
            action=answer["action"],
            mode=common["mode"],
            elicitation_id=common["elicitation_id"],
            content=answer.get("content", UNSET),
        )
        outcome = await self._hooks.occur(result, server)
        if outcome.elicited is not None:
            return _reply(outcome.elicited.action, outcome.elicited.content)
        return {"action": "decline"} if outcome.block is not None else answer

    async def _of_host(self, server: str, common: dict[str, Any]) -> dict[str, Any]:
        if self._host is None:
            return _NOBODY
        schema = common["requested_schema"]
        properties = schema.get("properties") if isinstance(schema, dict) else None
        order = list(properties) if isinstance(properties, dict) else UNSET
        try:
            reply = await self._host.elicit(
                Elicitation(mcp_server_name=server, property_order=order, **common)
            )
        except HostRefusedError:
            return _NOBODY
        return _reply(reply.action, reply.content)


def _reply(action: Any, content: Any) -> dict[str, Any]:
    if action not in ("accept", "decline"):
        return _NOBODY
    return {"action": action, "content": content} if isinstance(content, dict) else {"action": action}


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else UNSET
