"""Control requests about the MCP servers of the session."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from msgspec import UNSET

from claude_wrapper.agent.calls.mcp_status import statuses
from claude_wrapper.agent.config.kept_servers import switch_kept
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.mcp.names import tool_name
from claude_wrapper.agent.mcp.server_shape import complaint, with_usual_kind
from claude_wrapper.agent.start.mcp_servers import GivenServer
from claude_wrapper.agent.tools.contract import ToolFailure
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.link.peer import RequestRefusedError
from claude_wrapper.wire.replies_ask import McpCallReply, McpReadResourceReply, McpSetServersReply
from claude_wrapper.wire.requests_agent import McpMessage
from claude_wrapper.wire.requests_ask import (
    McpCall,
    McpReadResource,
    McpReconnect,
    McpSetServers,
    McpStatus,
    McpToggle,
)

if TYPE_CHECKING:
    from claude_wrapper.agent.mcp.server import McpServer

__all__ = ["ServerRequests"]

_log = logging.getLogger(__name__)

_KEPT = frozenset({"user", "project", "local"})


class ServerRequests:
    """Serves them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._servers = parts.servers
        self._set: dict[str, dict[str, Any]] = {}
        """The servers that the host has set, as it wrote them."""
        self._setting = anyio.Lock()

    def handlers(self) -> dict[type, Callable[[Any], Awaitable[Any]]]:
        """The handler of each request."""
        return {
            McpStatus: self._status,
            McpReconnect: self._reconnect,
            McpToggle: self._toggle,
            McpSetServers: self._set_servers,
            McpCall: self._call,
            McpReadResource: self._read,
            McpMessage: self._nothing,
        }

    async def _status(self, request: McpStatus) -> dict[str, Any]:
        return {"mcpServers": statuses(self._servers.servers.values())}

    async def _reconnect(self, request: McpReconnect) -> None:
        server = self._named(request.server_name)
        self._refuse_if_off(server, "connect to it again")
        await self._servers.reconnect(server)
        _refuse_if_failed(server)

    async def _toggle(self, request: McpToggle) -> None:
        server = self._named(request.server_name)
        was_off = server.status == "disabled"
        if request.enabled == was_off and server.scope in _KEPT:
            await self._remember(server.name, on=request.enabled)
        if not request.enabled:
            await self._servers.switch_off(server)
        elif server.status != "connected":
            await self._servers.reconnect(server)
            _refuse_if_failed(server)

    async def _remember(self, name: str, *, on: bool) -> None:
        from claude_wrapper.agent.config.change import SettingsNotWrittenError  # noqa: PLC0415  # rarely needed

        settings = self._parts.settings
        try:
            await anyio.to_thread.run_sync(
                lambda: switch_kept(settings.environ, settings.mcp.project or settings.cwd, name, on=on)
            )
        except SettingsNotWrittenError as error:
            _log.warning("the choice holds for this session only: %s", error)

    async def _set_servers(self, request: McpSetServers) -> McpSetServersReply:
        async with self._setting:
            for name, server in self._servers.servers.items():
                if server.kind == "sdk":
                    # Those that the host named at the start are its own as well.
                    self._set.setdefault(name, {"type": "sdk", "name": name})
            wanted, known = request.servers, self._set
            removed = [name for name in known if name not in wanted]
            for name in removed:
                await self._servers.remove(name)
            fresh = {name: config for name, config in wanted.items() if known.get(name) != config}
            errors = await self._replace(fresh)
            self._set = dict(wanted)
        return McpSetServersReply(added=list(fresh), removed=removed, errors=errors)

    async def _replace(self, fresh: dict[str, dict[str, Any]]) -> dict[str, str]:
        """Put servers in the place of those of their names, and connect to them; returns what went wrong."""
        errors: dict[str, str] = {}
        begun: list[McpServer] = []
        for name, config in fresh.items():
            await self._servers.remove(name)
            if not self._parts.settings.mcp.policy.lets(name, config):
                errors[name] = "a policy does not let this server be used"
                continue
            server = self._add(name, config)
            if server.error is not None:
                errors[name] = server.error
            elif server.kind != "sdk":
                begun.append(server)
        self._servers.connect_all()
        for server in begun:
            await self._servers.settled(server)
            if server.status != "connected":
                errors[server.name] = server.error or server.status
        return errors

    def _add(self, name: str, config: dict[str, Any]) -> McpServer:
        if config.get("type") == "sdk":
            self._servers.add_given({name: GivenServer(config)})
            return self._servers.servers[name]
        wrong = complaint(name, config)
        server = self._servers.add_own(name, GivenServer(with_usual_kind(config)))
        if wrong is not None:
            server.status, server.error = "failed", wrong["message"]
        return server

    async def _call(self, request: McpCall) -> McpCallReply:
        from claude_wrapper.agent.calls.mcp_tools import called  # noqa: PLC0415  # start-up: hosts hardly do this

        if not request.tool.startswith("mcp__") or "__" not in request.tool[5:]:
            raise RequestRefusedError(f"Not a fully-qualified MCP tool name: {request.tool}")
        server = self._of_tool(request.tool)
        if server is None or server.status != "connected":
            raise RequestRefusedError(f"MCP server not connected: {request.tool[5:].partition('__')[0]}")
        own = request.tool.removeprefix(tool_name(server.name, ""))
        names = (str(described.get("name") or "") for described in server.tools)
        own = next((name for name in names if tool_name(server.name, name) == request.tool), own)
        arguments = request.arguments if isinstance(request.arguments, dict) else {}
        call_id = new_uuid()
        try:
            result = await called(
                server, own, arguments, call_id, self._servers.ground.results_dir, f"mcp-{call_id}"
            )
        except ToolFailure as failure:
            raise RequestRefusedError(failure.text) from failure
        structured = UNSET if result.structured is None else result.structured
        return McpCallReply(content=result.content, structured_content=structured)

    async def _read(self, request: McpReadResource) -> McpReadResourceReply:
        from claude_wrapper.agent.mcp.server import ServerFailedError  # noqa: PLC0415  # start-up: as above

        if not request.uri.startswith("ui://"):
            raise RequestRefusedError("mcp_read_resource: uri must use the ui:// scheme")
        server = self._named(request.server_name)
        self._refuse_if_off(server, "read from it")
        try:
            given = await server.ask("resources/read", {"uri": request.uri})
        except ServerFailedError as error:
            raise RequestRefusedError(str(error)) from error
        contents = given.get("contents")
        return McpReadResourceReply(contents=contents if isinstance(contents, list) else [])

    async def _nothing(self, request: McpMessage) -> None:
        return None

    def _named(self, name: str) -> McpServer:
        server = self._servers.servers.get(name)
        if server is None:
            raise RequestRefusedError(f"Server not found: {name}")
        return server

    def _of_tool(self, tool: str) -> McpServer | None:
        found = [each for each in self._servers.servers.values() if tool.startswith(tool_name(each.name, ""))]
        return max(found, key=lambda each: len(each.name), default=None)

    @staticmethod
    def _refuse_if_off(server: McpServer, deed: str) -> None:
        if server.status == "disabled":
            raise RequestRefusedError(
                f"MCP server {server.name} is disabled: switch it on (mcp_toggle) to {deed}"
            )


def _refuse_if_failed(server: McpServer) -> None:
    if server.status != "connected":
        raise RequestRefusedError(server.error or f"MCP server {server.name} is {server.status}")
