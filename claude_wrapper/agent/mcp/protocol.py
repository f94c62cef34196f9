"""JSON-RPC as MCP uses it: requests with ids that count from 0, and their replies."""

from __future__ import annotations

from typing import Any

__all__ = ["PROTOCOL_VERSION", "Requests", "RpcError", "result_of"]

PROTOCOL_VERSION = "2025-11-25"
_OFFERED = {"roots": {"listChanged": True}, "elicitation": {"form": {}, "url": {}}}


class RpcError(Exception):
    """The server answered with an error, or with something that is no answer."""


class Requests:
    """Makes the messages to one server."""

    def __init__(self) -> None:
        self._next = 0

    def skip(self, count: int) -> None:
        """Leave out ids of requests that need not be made."""
        self._next += count

    def initialize(self, client: dict[str, Any], *, of_host: bool = True) -> dict[str, Any]:
        """The request that opens a session; servers in the host ask the host themselves."""
        offered = {} if of_host else _OFFERED
        return self._request(
            "initialize", {"protocolVersion": PROTOCOL_VERSION, "capabilities": offered, "clientInfo": client}
        )

    def a_list(self, method: str, cursor: str | None = None) -> dict[str, Any]:
        """The request for what the server has of a kind, or for the next page of it."""
        return self._request(method, None if cursor is None else {"cursor": cursor})

    def other(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Another request."""
        return self._request(method, params)

    def call_tool(self, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        """The request that runs a tool."""
        progress = {**meta, "progressToken": self._next}
        return self._request("tools/call", {"name": name, "arguments": arguments, "_meta": progress})

    @staticmethod
    def initialized() -> dict[str, Any]:
        """The notification that the session is open."""
        return {"jsonrpc": "2.0", "method": "notifications/initialized"}

    @staticmethod
    def cancelled(number: int) -> dict[str, Any]:
        """The notification that the answer to a request is not wanted any more."""
        params = {"requestId": number, "reason": "The user stopped the turn"}
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}

    def _request(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        message: dict[str, Any] = {"method": method}
        if params is not None:
            message["params"] = params
        message["jsonrpc"] = "2.0"
        message["id"] = self._next
        self._next += 1
        return message


def result_of(reply: dict[str, Any]) -> dict[str, Any]:
    """The result in a reply; raises RpcError."""
    result = reply.get("result")
    if isinstance(result, dict):
        return result
    error = reply.get("error")
    if isinstance(error, dict):
        raise RpcError(str(error.get("message") or error))
    raise RpcError("the server's reply holds neither a result nor an error")
