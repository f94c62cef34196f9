"""The prompts of MCP servers, as commands that a user gives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from claude_wrapper.agent.mcp.names import tool_name
from claude_wrapper.agent.mcp.server import McpServer, ServerFailedError

__all__ = ["PromptFailedError", "ServerPrompt", "prompts_of"]

_SPACES = re.compile(r"\s+")


class PromptFailedError(Exception):
    """The prompt cannot be had; the text says why."""


class ServerPrompt:
    """One prompt of a server."""

    def __init__(self, server: McpServer, described: dict[str, Any]) -> None:
        self._server = server
        self._own_name = str(described.get("name") or "")
        self.name = tool_name(server.name, _SPACES.sub("_", self._own_name))
        self.description = str(described.get("description") or "")
        listed = described.get("arguments")
        self._arguments = [
            (str(each["name"]), each.get("required") is True)
            for each in (listed if isinstance(listed, list) else [])
            if isinstance(each, dict) and each.get("name")
        ]

    @property
    def shown_name(self) -> str:
        """The name for people."""
        return f"{self._server.name}:{self._own_name}"

    @property
    def argument_hint(self) -> str:
        """The arguments, by their names."""
        return " ".join(name for name, _ in self._arguments)

    async def text(self, given: str) -> str:
        """What the server makes of it; raises PromptFailedError."""
        words = given.split()
        # What is too much belongs to the last argument.
        if self._arguments and len(words) > len(self._arguments):
            last = len(self._arguments) - 1
            words = [*words[:last], " ".join(words[last:])]
        for name, required in self._arguments[len(words) :]:
            if required:
                raise PromptFailedError(
                    f"Missing required argument: {name}. Usage: /{self.name} {self.argument_hint}"
                )
        arguments = {name: word for (name, _), word in zip(self._arguments, words, strict=False)}
        try:
            answer = await self._server.ask("prompts/get", {"name": self._own_name, "arguments": arguments})
        except ServerFailedError as error:
            raise PromptFailedError(str(error)) from error
        messages = answer.get("messages")
        parts = [_text(each.get("content")) for each in messages or () if isinstance(each, dict)]
        return "\n\n".join(part for part in parts if part)


def prompts_of(servers: Iterable[McpServer]) -> dict[str, ServerPrompt]:
    """All prompts, by the names of their commands."""
    found = [ServerPrompt(server, described) for server in servers for described in server.prompts]
    return {prompt.name: prompt for prompt in found}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    if not isinstance(content, dict):
        return ""
    if content.get("type") == "resource" and isinstance(content.get("resource"), dict):
        return str(content["resource"].get("text") or "")
    return str(content.get("text") or "")
