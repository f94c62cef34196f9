"""What a hook is: a callback of the host, a command, a web address, a model that judges, or a tool of a server."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import msgspec

__all__ = [
    "AgentHook",
    "CommandHook",
    "Hook",
    "HostHook",
    "HttpHook",
    "PromptHook",
    "ToolHook",
    "default_seconds",
]

_SECONDS = {"UserPromptSubmit": 30.0, "UserPromptExpansion": 30.0, "MessageDisplay": 10.0, "SessionEnd": 1.5}


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """What all have."""

    seconds: float
    """How long it may take."""
    matcher: str | None = None
    condition: str | None = None
    """A permission rule; only calls that it speaks of concern the hook."""
    blocks_on_failure: bool = False
    once: bool = False
    """It runs once, if a command of the user's has brought it."""

    @property
    def label(self) -> str:
        """How texts call it."""
        return ""

    @property
    def identity(self) -> Hashable:
        """Equal for hooks that do the same, however often settings name them; None for one that stands alone."""
        return None


class HostHook(Hook, frozen=True, kw_only=True):
    """A callback of the host."""

    callback_id: str

    @property
    def label(self) -> str:
        """How texts call it."""
        return self.callback_id


class CommandHook(Hook, frozen=True, kw_only=True):
    """A command: a line for the shell, or a program if there are `args`."""

    command: str
    args: tuple[str, ...] | None = None
    background: bool = False
    """Nobody waits for it."""
    rewakes: bool = False
    """Nobody waits for it where the model can be spoken to later; it is, if the hook then objects."""

    @property
    def label(self) -> str:
        """How texts call it."""
        return " ".join([self.command, *(self.args or ())])

    @property
    def identity(self) -> Hashable:
        """See Hook."""
        return ("command", self.command, self.args, self.condition)


class HttpHook(Hook, frozen=True, kw_only=True):
    """An address that the event is posted to."""

    url: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    variables: tuple[str, ...] = ()
    """The environment variables that headers may name."""

    @property
    def label(self) -> str:
        """How texts call it."""
        return self.url

    @property
    def identity(self) -> Hashable:
        """See Hook."""
        return ("http", self.url, tuple(sorted(self.headers.items())), self.condition)


class PromptHook(Hook, frozen=True, kw_only=True):
    """A question that a model answers."""

    prompt: str
    model: str | None = None
    goes_on: bool = False
    """A refusal is told to the model; without this it ends the turn."""

    @property
    def label(self) -> str:
        """How texts call it."""
        return self.prompt

    @property
    def identity(self) -> Hashable:
        """See Hook."""
        return ("prompt", self.prompt, self.model, self.condition)


class AgentHook(Hook, frozen=True, kw_only=True):
    """A question that a model answers after it has looked around with tools."""

    prompt: str
    model: str | None = None

    @property
    def label(self) -> str:
        """How texts call it."""
        return self.prompt

    @property
    def identity(self) -> Hashable:
        """See Hook."""
        return ("agent", self.prompt, self.model, self.condition)


class ToolHook(Hook, frozen=True, kw_only=True):
    """A tool of an MCP server."""

    server: str
    tool: str
    arguments: Mapping[str, Any] = msgspec.field(default_factory=dict)

    @property
    def label(self) -> str:
        """How texts call it."""
        return f"{self.server}: {self.tool}"


def default_seconds(event: str, usual: float) -> float:
    """How long a hook of an event may take if nothing is said about it."""
    return min(_SECONDS.get(event, usual), usual)
