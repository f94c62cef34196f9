"""What the MCP servers of a session offer: tools in the toolbox, prompts, and words for the model."""

from __future__ import annotations

from collections.abc import Mapping

from claude_wrapper.agent.mcp.server import McpServer
from claude_wrapper.agent.mcp.tool import McpToolFacts, shortened

from .mcp_limits import McpLimits
from .mcp_prompts import ServerPrompt, prompts_of
from .mcp_tools import McpTool
from .resource_tools import ListMcpResources, ReadMcpResource
from .toolbox import Toolbox, ToolSource

__all__ = ["McpOffers"]


class McpOffers:
    """Follows what servers offer."""

    def __init__(self, toolbox: Toolbox, servers: Mapping[str, McpServer], limits: McpLimits) -> None:
        self._toolbox = toolbox
        self._servers = servers
        self._limits = limits
        self._names: dict[str, list[str]] = {}
        self._has_resources = False
        self._told: set[str] = set()
        self.prompts: dict[str, ServerPrompt] = {}
        """By the names of their commands."""

    def take(self, server: McpServer) -> bool:
        """Take over what a server offers now; whether there are other prompts than before."""
        self._take_tools(server)
        self._offer_resources()
        before = self.prompts.keys()
        self.prompts = prompts_of(self._servers.values())
        return before != self.prompts.keys()

    def _take_tools(self, server: McpServer) -> None:
        offered = [McpToolFacts(server.name, described) for described in server.tools]
        names = [facts.name for facts in offered]
        self._toolbox.remove(name for name in self._names.get(server.name, ()) if name not in names)
        self._names[server.name] = names
        for facts in offered:
            source = ToolSource(
                display_name=facts.display_name,
                own_name=facts.own_name,
                server={"name": server.name, "source": server.source},
                interaction=facts.only_a_person_allows,
            )
            self._toolbox.add([McpTool(server, facts, self._limits)], source)

    def _offer_resources(self) -> None:
        """The tools that look at resources are there as long as a server has some."""
        has = any("resources" in server.capabilities for server in self._servers.values())
        if has and not self._has_resources:
            self._toolbox.add([ListMcpResources(self._servers), ReadMcpResource(self._servers)], None)
        elif self._has_resources and not has:
            self._toolbox.remove([ListMcpResources.name, ReadMcpResource.name])
        self._has_resources = has

    def untold(self) -> list[str]:
        """What servers want the model to know and it does not know yet."""
        told = []
        for name, server in self._servers.items():
            text = server.info.get("instructions")
            if isinstance(text, str) and text.strip() and name not in self._told:
                self._told.add(name)
                text = shortened(text.strip())
                told.append(f"The MCP server {name} says about its tools and resources:\n\n{text}")
        return told
