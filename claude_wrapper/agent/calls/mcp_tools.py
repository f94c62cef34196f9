"""MCP servers in a session: connecting them, and putting their tools into the toolbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio

from claude_wrapper.agent.host.link import HostLink
from claude_wrapper.agent.mcp.content import as_read, blocks_of, text_of
from claude_wrapper.agent.mcp.host_server import HostServer, McpHost, ServerFailedError
from claude_wrapper.agent.mcp.tool import McpToolFacts
from claude_wrapper.agent.tools.contract import ToolContext, ToolFailure, ToolOutput
from claude_wrapper.agent.version import AGENT_VERSION

from .call import current_call
from .toolbox import Toolbox, ToolSource

__all__ = ["McpServers", "McpTool"]

_CONNECT_SECONDS = 30.0
_GREETING_SECONDS = 1.0
_CLIENT = {"name": "claude-wrapper", "title": "claude-wrapper agent", "version": AGENT_VERSION}


class McpTool:
    """Runs one tool of a server."""

    def __init__(self, server: HostServer, facts: McpToolFacts) -> None:
        self._server = server
        self._facts = facts
        self.name = facts.name
        self.description = facts.description
        self.input_schema = facts.input_schema

    def is_read_only(self, tool_input: dict[str, Any]) -> bool:
        """As the server says."""
        return self._facts.read_only

    def prepare(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The server knows its own defaults."""
        return tool_input

    def for_permission(self, tool_input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """Which fields are paths only the server knows."""
        return tool_input

    async def check(self, tool_input: dict[str, Any], context: ToolContext) -> None:
        """The server checks its input itself."""

    async def run(self, tool_input: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Call the server."""
        meta = {"claudecode/toolUseId": current_call.get()}
        try:
            result = await self._server.call(self._facts.own_name, tool_input, meta)
        except ServerFailedError as error:
            raise ToolFailure(f"MCP server {self._server.name}: {error}") from error
        stem = f"mcp-{self._server.name}-{current_call.get()[-12:]}"
        blocks = blocks_of(result.get("content"), context.results_dir, stem)
        if result.get("isError") is True:
            raise ToolFailure(text_of(blocks) or "The tool reported a failure without a text.")
        return ToolOutput(as_read(blocks, context.results_dir, stem, self.name), blocks)


class McpServers:
    """The servers of a session. `start_task` runs their handshakes beside everything else."""

    def __init__(self, toolbox: Toolbox, host: HostLink | None, start_task: Callable[..., object]) -> None:
        self._toolbox = toolbox
        self._host = host
        self._start_task = start_task
        self.servers: dict[str, HostServer] = {}
        self._connecting: dict[str, anyio.Event] = {}

    def add_configured(
        self, configs: Mapping[str, Mapping[str, Any]], cwd: Path, environment: Mapping[str, str]
    ) -> None:
        """Take in servers of a configuration: those of the host, and programs, which are started when it is time."""
        for name, config in configs.items():
            if config.get("type") == "sdk":
                timeout = config.get("timeout")
                self.add_host_server(name, timeout / 1000 if isinstance(timeout, int | float) else None)
            elif name not in self.servers:
                self.servers[name] = _own_server(name, config, cwd, environment)

    def add_host_server(self, name: str, call_seconds: float | None = None) -> None:
        """Take in a server that runs in the host, if it is new."""
        if self._host is not None and name not in self.servers:
            self.servers[name] = HostServer(name, self._host, _CLIENT, call_seconds)

    def adopt_manifest(
        self, name: str, initialize: Mapping[str, Any], tools: Mapping[str, Any] | None
    ) -> str:
        """Take over what the host knows of a server; returns what became of it, for the answer."""
        server = self.servers.get(name)
        if server is None:
            return "not_honoured"
        if server.status == "connected" or name in self._connecting:
            return "already_connected"
        if not server.adopt_manifest(initialize, tools):
            return "protocol_version_mismatch"
        self._publish(server)
        return "parked"

    def connect_all(self) -> list[HostServer]:
        """Begin the handshakes that are due; returns the servers whose handshakes began."""
        begun = []
        for name, server in self.servers.items():
            if server.status == "pending" and name not in self._connecting:
                self._connecting[name] = anyio.Event()
                self._start_task(self._connect, server)
                begun.append(server)
        return begun

    async def greet(self) -> None:
        """Begin the handshakes that are due; returns once their first messages are on their way."""
        for server in self.connect_all():
            with anyio.move_on_after(_GREETING_SECONDS):
                await server.spoken_to()

    async def ready(self) -> None:
        """Wait until every server is connected or has failed."""
        self.connect_all()
        for done in list(self._connecting.values()):
            await done.wait()

    async def _connect(self, server: HostServer) -> None:
        try:
            await server.connect(_CONNECT_SECONDS)
            self._publish(server)
        finally:
            self._connecting[server.name].set()

    def _publish(self, server: HostServer) -> None:
        for described in server.tools:
            facts = McpToolFacts(server.name, described)
            source = ToolSource(
                display_name=facts.display_name,
                own_name=facts.own_name,
                server={"name": server.name, "source": server.source},
                interaction=facts.only_a_person_allows,
            )
            self._toolbox.add([McpTool(server, facts)], source)

    def in_init(self) -> list[dict[str, str]]:
        """The servers as init frames list them."""
        return [
            {"name": server.name, "status": server.status, "source": server.source}
            for server in self.servers.values()
        ]

    def statuses(self) -> list[dict[str, Any]]:
        """The servers as the host asks about them."""
        return [_status(server) for server in self.servers.values()]


def _own_server(
    name: str, config: Mapping[str, Any], cwd: Path, environment: Mapping[str, str]
) -> HostServer:
    """A server that the agent itself reaches."""
    # Start-up: most sessions have none.
    from claude_wrapper.agent.mcp.stdio_channel import OutOfReach, StdioChannel  # noqa: PLC0415

    channel: McpHost = OutOfReach()
    kind = config.get("type", "stdio")
    if kind == "stdio":
        argv = [config["command"], *config.get("args", [])]
        channel = StdioChannel(argv, cwd, {**environment, **config.get("env", {})})
    server = HostServer(name, channel, _CLIENT)
    server.source, server.transport, server.config = "dynamic", kind, {"type": kind, **config}
    if kind == "stdio":
        server.config.setdefault("args", [])
    return server


def _status(server: HostServer) -> dict[str, Any]:
    status: dict[str, Any] = {"name": server.name, "status": server.status}
    info = server.info.get("serverInfo")
    if isinstance(info, dict):
        status["serverInfo"] = info
    if server.error is not None:
        status["error"] = server.error
    status |= {
        "config": server.config,
        "transport": server.transport,
        "scope": "dynamic",
        "source": server.source,
    }
    if server.status == "connected":
        facts = [McpToolFacts(server.name, described) for described in server.tools]
        status["tools"] = [
            {"name": each.own_name, "description": each.description, "annotations": each.shown_annotations()}
            for each in facts
        ]
    return status
