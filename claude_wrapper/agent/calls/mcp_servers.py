"""MCP servers in a session: connecting them, switching them, and keeping their tools in the toolbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio

from claude_wrapper.agent.host.link import HostLink
from claude_wrapper.agent.mcp.host_channel import HostChannel
from claude_wrapper.agent.mcp.server import McpServer
from claude_wrapper.agent.mcp.tool import McpToolFacts
from claude_wrapper.agent.start.mcp_servers import GivenServer
from claude_wrapper.agent.version import AGENT_VERSION

from .mcp_ground import McpGround
from .mcp_tools import McpTool
from .toolbox import Toolbox, ToolSource

__all__ = ["McpServers"]

_GREETING_SECONDS = 1.0
_CLIENT = {"name": "claude-wrapper", "title": "claude-wrapper agent", "version": AGENT_VERSION}


class McpServers:
    """The servers of a session. `start_task` runs their handshakes beside everything else."""

    def __init__(
        self, toolbox: Toolbox, host: HostLink | None, start_task: Callable[..., object], ground: McpGround
    ) -> None:
        self._toolbox = toolbox
        self._host = host
        self._start_task = start_task
        self._ground = ground
        self.servers: dict[str, McpServer] = {}
        self._connecting: dict[str, anyio.Event] = {}
        self._published: dict[str, list[str]] = {}
        self._patience: float | None = None
        """Until when the servers of files are waited for."""

    def add_given(self, servers: Mapping[str, GivenServer]) -> None:
        """Take in servers of a configuration; those that the agent itself reaches are begun when it is time."""
        for name, given in servers.items():
            if given.config.get("type") == "sdk":
                timeout = given.config.get("timeout")
                self.add_host_server(name, timeout / 1000 if isinstance(timeout, int | float) else None)
            elif name not in self.servers:
                self.add_own(name, given)

    def add_own(self, name: str, given: GivenServer) -> McpServer:
        """Take in a server that the agent itself reaches, also in the place of another one."""
        server = self.servers[name] = self._ground.server(name, given, _CLIENT, self)
        if given.off:
            server.status = "disabled"
        return server

    def add_host_server(self, name: str, call_seconds: float | None = None) -> None:
        """Take in a server that runs in the host, if it is new."""
        if self._host is not None and name not in self.servers:
            channel = HostChannel(self._host)
            seconds = self._ground.limits.call if call_seconds is None else call_seconds
            self.servers[name] = McpServer(
                name,
                lambda _: channel,
                _CLIENT,
                shown={"type": "sdk", "name": name},
                call_seconds=seconds,
            )

    def adopt_manifest(
        self, name: str, initialize: Mapping[str, Any], tools: Mapping[str, Any] | None
    ) -> str:
        """Take over what the host knows of a server; returns what became of it, for the answer."""
        server = self.servers.get(name)
        if server is None or server.kind != "sdk":
            return "not_honoured"
        if server.status == "connected" or name in self._connecting:
            return "already_connected"
        if not server.adopt_manifest(initialize, tools):
            return "protocol_version_mismatch"
        self.changed(server)
        return "parked"

    def connect_all(self) -> list[McpServer]:
        """Begin the handshakes that are due; returns the servers whose handshakes began."""
        begun = [
            server
            for name, server in self.servers.items()
            if server.status == "pending" and name not in self._connecting
        ]
        for server in begun:
            self.begin(server)
        if begun and self._patience is None:
            self._patience = anyio.current_time() + self._ground.limits.files
        return begun

    def begin(self, server: McpServer) -> anyio.Event:
        """Begin a handshake beside everything else; the event tells that it is over."""
        done = self._connecting[server.name] = anyio.Event()
        self._start_task(self._connect, server, done)
        return done

    async def greet(self) -> None:
        """Begin the handshakes that are due; returns once their first messages are on their way."""
        for server in self.connect_all():
            with anyio.move_on_after(_GREETING_SECONDS):
                await server.spoken_to()

    async def ready(self) -> None:
        """Wait until every server is connected or has failed; those of files are not waited for so long."""
        self.connect_all()
        for name, done in list(self._connecting.items()):
            server = self.servers.get(name)
            if server is not None and server.scope == "dynamic":
                await done.wait()
        with anyio.CancelScope(deadline=self._patience or 0):
            for done in list(self._connecting.values()):
                await done.wait()

    async def reconnect(self, server: McpServer) -> None:
        """Connect anew; afterwards the status tells how it went."""
        before = self._connecting.get(server.name)
        if before is not None:
            await before.wait()
        await self.begin(server).wait()

    async def switch_off(self, server: McpServer) -> None:
        """Let go of a server until it is wanted again."""
        await server.switch_off()
        self.changed(server)

    async def remove(self, name: str) -> None:
        """Forget a server."""
        server = self.servers.pop(name)
        await self.switch_off(server)
        self._connecting.pop(name, None)

    async def _connect(self, server: McpServer, done: anyio.Event) -> None:
        try:
            await server.connect(self._ground.limits.connect)
            if self.servers.get(server.name) is server:
                self.changed(server)
            else:
                await server.switch_off()
        finally:
            done.set()

    def changed(self, server: McpServer) -> None:
        """Put the tools that a server has into the toolbox, and take those away that it had."""
        offered = [McpToolFacts(server.name, described) for described in server.tools]
        names = {facts.name for facts in offered}
        self._toolbox.remove(name for name in self._published.get(server.name, ()) if name not in names)
        self._published[server.name] = list(names)
        for facts in offered:
            source = ToolSource(
                display_name=facts.display_name,
                own_name=facts.own_name,
                server={"name": server.name, "source": server.source},
                interaction=facts.only_a_person_allows,
            )
            self._toolbox.add([McpTool(server, facts, self._ground.limits)], source)

    async def settled(self, server: McpServer) -> None:
        """Wait until a handshake that was begun is over."""
        done = self._connecting.get(server.name)
        if done is not None:
            await done.wait()

    @property
    def results_dir(self) -> Path:
        """Where what is too large for the conversation is kept."""
        return self._ground.results_dir

    def roots(self) -> list[str]:
        """The addresses of the folders that are worked in."""
        return [folder.as_uri() for folder in self._ground.folders()]

    async def elicit(self, server: McpServer, params: dict[str, Any]) -> dict[str, Any]:
        """Nobody is there to be asked."""
        return {"action": "cancel"}

    def in_init(self) -> list[dict[str, str]]:
        """The servers as init frames list them."""
        return [
            {"name": server.name, "status": server.status, "source": server.source}
            for server in self.servers.values()
        ]
