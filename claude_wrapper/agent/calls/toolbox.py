"""The tools of a session: which there are, by which names, and how they are described to the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from claude_wrapper.agent.permissions.matching import is_removed
from claude_wrapper.agent.permissions.policy import Policy
from claude_wrapper.agent.permissions.rules import SourcedRule
from claude_wrapper.agent.tools.contract import Tool

__all__ = ["TOOL_ALIASES", "ToolSource", "Toolbox"]

TOOL_ALIASES = {"Task": "Agent", "KillShell": "TaskStop", "KillBash": "TaskStop"}
"""Old names, by which models may still call tools."""
_INIT_NAMES = {"Agent": "Task"}


class ToolSource:
    """What is known of a tool beside itself. The built-in tools need no more than this."""

    def __init__(
        self,
        *,
        display_name: str | None = None,
        own_name: str | None = None,
        server: Mapping[str, Any] | None = None,
        interaction: bool = False,
        ends_run: bool = False,
    ) -> None:
        self.display_name = display_name
        self.own_name = own_name
        self.server = server
        self.interaction = interaction
        self.ends_run = ends_run


_BUILT_IN = ToolSource()
_BEGINNING_OF_WORD = re.compile(r"\b[a-z]")


class Toolbox:
    """Finds tools. Their order is stable, since the model's cache depends on it."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {tool.name: tool for tool in tools}
        self._sources: dict[str, ToolSource] = {}
        self._hidden: frozenset[str] = frozenset()
        self._denying: tuple[SourcedRule, ...] | None = None
        self._kept_back: set[str] = set()
        self._definitions: list[dict[str, Any]] | None = None
        self._aliases = dict(TOOL_ALIASES)

    def add(self, tools: Iterable[Tool], source: ToolSource | None) -> None:
        """Add tools, of another origin if one is named; one of the same name is replaced."""
        for tool in tools:
            self._tools[tool.name] = tool
            if source is not None:
                self._sources[tool.name] = source
            if self._denying is not None and is_removed(tool.name, self._denying):
                self._hidden |= {tool.name}
        self._definitions = None

    def remove(self, names: Iterable[str]) -> None:
        """Take tools away."""
        for name in names:
            self._tools.pop(name, None)
            self._sources.pop(name, None)
        self._definitions = None

    def know_aliases(self, aliases: Mapping[str, str]) -> None:
        """Let the model call tools by further names."""
        self._aliases.update(aliases)

    def keep_back(self, name: str) -> None:
        """Never offer a tool to the model."""
        self._kept_back.add(name)

    def all_names(self) -> list[str]:
        """The tools that there are, on offer or not, apart from those that are kept back."""
        return [name for name in self._tools if name not in self._kept_back]

    def describe_anew(self) -> None:
        """What tools say of themselves has changed."""
        self._definitions = None

    def selected(self, names: Iterable[str]) -> Toolbox:
        """A box of its own with some of the tools."""
        chosen = set(names)
        box = Toolbox(tool for name, tool in self._tools.items() if name in chosen)
        box._sources = {name: source for name, source in self._sources.items() if name in chosen}
        box._denying = self._denying
        box._aliases = self._aliases
        return box

    def restrict(self, policy: Policy) -> None:
        """Hide the tools that a rule denies as a whole.

        The rules of the first turn count: what is on offer stays the same, since the model's cache depends
        on it, and calls that later rules deny are denied one by one.
        """
        if self._denying is None:
            self._denying = policy.of("deny")
        denied = {name for name in self._tools if is_removed(name, self._denying)}
        hidden = frozenset(denied | self._kept_back)
        if hidden != self._hidden:
            self._hidden = hidden
            self._definitions = None

    def find(self, name: str) -> Tool | None:
        """The tool that the model means by a name, also one that is not on offer."""
        return self._tools.get(name) or self._tools.get(self._aliases.get(name, ""))

    def spelt_otherwise(self, name: str) -> str | None:
        """The tool whose name is the same but for upper and lower case."""
        return next((known for known in self._tools if known.lower() == name.lower() and known != name), None)

    def is_off(self, name: str) -> bool:
        """Whether a tool is not on offer, so that a call of it is a mistake."""
        return name in self._hidden

    def names(self) -> list[str]:
        """The names of the tools on offer, as init frames list them."""
        return [_INIT_NAMES.get(name, name) for name in self._in_order() if name not in self._hidden]

    def definitions(self) -> Sequence[dict[str, Any]]:
        """The tools on offer, as the API wants them described."""
        if self._definitions is None:
            self._definitions = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
                for tool in (self._tools[name] for name in self._in_order())
                if tool.name not in self._hidden
            ]
        return self._definitions

    def _in_order(self) -> list[str]:
        """Servers come in as they are ready: their tools stand behind the others, in the same order in every run."""
        return sorted(self._tools, key=lambda name: name if name.startswith("mcp__") else "")

    def is_built_in(self, name: str) -> bool:
        """Whether a tool is one of the agent's own."""
        return name not in self._sources

    def display_name(self, name: str) -> str:
        """The name that people are shown."""
        return self._source(name).display_name or name

    def mcp_server(self, name: str) -> dict[str, Any] | None:
        """The server that a tool comes from; None for the agent's own."""
        server = self._source(name).server
        return None if server is None else dict(server)

    def use_meta(self, name: str, call_id: str) -> dict[str, Any] | None:
        """What people are told about a call of a server's tool or of none; None for the agent's own."""
        if self.find(name) is None:
            shown = _in_words(name)
            return None if shown == name else {"id": call_id, "display_name": shown}
        source = self._source(name)
        if source.server is None:
            return None
        return {
            "id": call_id,
            "display_name": source.display_name or name,
            "server_display_name": source.server.get("name"),
            "tool_name": source.own_name or name,
        }

    def requires_interaction(self, name: str) -> bool:
        """Whether only a person can allow the tool."""
        return self._source(name).interaction

    def final_value(self, name: str, tool_input: dict[str, Any]) -> Any:
        """The value of the run, if a successful call of the tool is the end of it; else UNSET."""
        return tool_input if self._source(name).ends_run else UNSET

    def _source(self, name: str) -> ToolSource:
        return self._sources.get(name, _BUILT_IN)


def _in_words(name: str) -> str:
    """The name of a tool that nobody knows, as people read it."""
    own = name.rpartition("__")[2] if name.startswith("mcp__") else name
    return _BEGINNING_OF_WORD.sub(lambda found: found[0].upper(), own.replace("_", " "))
