"""MCP servers in a session: which there are, connecting them, switching them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio

from claude_wrapper.agent.host.link import HostLink
from claude_wrapper.agent.start.mcp_servers import GivenServer

from .mcp_ground import McpGround
from .toolbox import Toolbox

if TYPE_CHECKING:
    from claude_wrapper.agent.hooking.events import HookEvents
    from claude_wrapper.agent.mcp.server import McpServer

    from .mcp_offers import McpOffers
    from .mcp_prompts import ServerPrompt

__all__ = ["McpServers"]

_GREETING_SECONDS = 1.0


class McpServers:
    """The servers of a session. `start_task` runs their handshakes beside everything else.

    What only sessions with servers need is loaded with the first of them.
    """

    def __init__(
        self, toolbox: Toolbox, host: HostLink, start_task: Callable[..., object], ground: McpGround
    ) -> None:
        self._toolbox = toolbox
        self._host = host
        self._start_task = start_task
        self.ground = ground
        self.servers: dict[str, McpServer] = {}
        self.errors = list(ground.settings.mcp.errors)
        """What is wrong with servers that are left out."""
        self.on_prompts: Callable[[], None] | None = None
        """Hears that the prompts have changed."""
        self.on_elicited: Callable[[str, str], None] | None = None
        """Hears that a server got what it had asked for elsewhere."""
        self.hooks: HookEvents | None = None
        self._connecting: dict[str, anyio.Event] = {}
        self._off: set[McpServer] = set()
        self._offers: McpOffers | None = None
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
        server = self.servers[name] = self.ground.own_server(name, given, self)
        if given.off:
            server.status = "disabled"
        return server

    def add_host_server(self, name: str, call_seconds: float | None = None) -> None:
        """Take in a server that runs in the host, if it is new."""
        if name not in self.servers:
            self.servers[name] = self.ground.host_server(name, self._host, call_seconds)

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
            self._begin(server)
        if begun and self._patience is None:
            self._patience = anyio.current_time() + self.ground.limits.files
        return begun

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

    async def settled(self, server: McpServer) -> None:
        """Wait until a handshake that was begun is over."""
        done = self._connecting.get(server.name)
        if done is not None:
            await done.wait()

    async def reconnect(self, server: McpServer) -> None:
        """Connect anew; afterwards the status tells how it went."""
        await self.settled(server)
        await self._begin(server).wait()

    async def switch_off(self, server: McpServer) -> None:
        """Let go of a server until it is wanted again."""
        self._off.add(server)
        await server.switch_off()
        self.changed(server)

    async def remove(self, name: str) -> None:
        """Forget a server, if there is one of this name."""
        server = self.servers.pop(name, None)
        self._connecting.pop(name, None)
        if server is not None:
            await self.switch_off(server)

    def _begin(self, server: McpServer) -> anyio.Event:
        """Begin a handshake beside everything else; the event tells that it is over."""
        self._off.discard(server)
        done = self._connecting[server.name] = anyio.Event()
        self._start_task(self._connect, server, done)
        return done

    async def _connect(self, server: McpServer, done: anyio.Event) -> None:
        try:
            await server.connect(self.ground.limits.connect)
            if server in self._off:  # it was switched off, or taken away, while it was greeted
                await server.switch_off()
            if self.servers.get(server.name) is server:
                self.changed(server)
        finally:
            done.set()

    def changed(self, server: McpServer) -> None:
        """What a server offers is not what it was."""
        if self._offers is None:
            from .mcp_offers import McpOffers  # noqa: PLC0415  # start-up: most sessions have no servers

            self._offers = McpOffers(self._toolbox, self.servers, self.ground.limits)
        if self._offers.take(server) and self.on_prompts is not None:
            self.on_prompts()

    def prompts(self) -> dict[str, ServerPrompt]:
        """The prompts of all servers, by the names of their commands."""
        return {} if self._offers is None else self._offers.prompts

    def untold(self) -> list[str]:
        """What servers want the model to know and it does not know yet."""
        return [] if self._offers is None else self._offers.untold()

    def roots(self) -> list[str]:
        """The addresses of the folders that are worked in."""
        return [folder.as_uri() for folder in self.ground.folders()]

    def elicited(self, server: McpServer, question: str) -> None:
        """What a server had asked the user to do elsewhere is done."""
        if self.on_elicited is not None:
            self.on_elicited(server.name, question)

    async def elicit(self, server: McpServer, params: dict[str, Any]) -> dict[str, Any]:
        """Put a question of a server to the user; in a run without a host nobody is there."""
        from .elicitation import Elicitor  # noqa: PLC0415  # hardly any server asks

        assert self.hooks is not None
        has_host = self.ground.settings.input_format == "stream-json"
        return await Elicitor(self._host if has_host else None, self.hooks).ask(server.name, params)

    def in_init(self) -> list[dict[str, str]]:
        """The servers as init frames list them."""
        return [
            {"name": server.name, "status": server.status, "source": server.source}
            for server in self.servers.values()
        ]
