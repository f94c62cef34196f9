"""The shapes of what an agent answers to the requests of a client."""

# No `from __future__ import annotations` here: TypedDict reads NotRequired from real annotations.

import sys
from typing import Any

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

__all__ = [
    "AccountInfo",
    "AgentInfo",
    "CommandInfo",
    "InterruptResult",
    "McpSetServersResult",
    "ModelInfo",
    "ReloadPluginsResult",
    "RewindFilesResult",
    "SessionUsage",
    "SettingsInForce",
    "TaskOutput",
    "UsageReport",
]


class InterruptResult(TypedDict):
    """Which prompts still wait, and which were taken back, by their ids."""

    still_queued: NotRequired[list[str]]
    cancelled: NotRequired[list[str]]


class RewindFilesResult(TypedDict):
    """What a rewind did, or, as a dry run, would do."""

    canRewind: bool
    error: NotRequired[str]
    """Why it cannot be done."""
    filesChanged: NotRequired[list[str]]
    insertions: NotRequired[int]
    deletions: NotRequired[int]
    skippedLinks: NotRequired[int]


class McpSetServersResult(TypedDict):
    """What became of the tool servers; `errors` by their names."""

    added: list[str]
    removed: list[str]
    errors: dict[str, str]


class CommandInfo(TypedDict):
    """A slash command or skill."""

    name: str
    description: str
    argumentHint: str
    aliases: NotRequired[list[str]]
    builtin: NotRequired[bool]


class AgentInfo(TypedDict):
    """An agent that the model may start."""

    name: str
    description: str
    model: NotRequired[str]


class ModelInfo(TypedDict):
    """A model to choose, by its `value`."""

    value: str
    displayName: str
    description: str
    resolvedModel: NotRequired[str]
    supportsEffort: NotRequired[bool]
    supportedEffortLevels: NotRequired[list[str]]
    supportsAdaptiveThinking: NotRequired[bool]
    supportsFastMode: NotRequired[bool]
    supportsAutoMode: NotRequired[bool]
    supportsThinkingOff: NotRequired[bool]


class AccountInfo(TypedDict):
    """Who pays, as far as the agent knows."""

    email: NotRequired[str]
    organization: NotRequired[str]
    subscriptionType: NotRequired[str]
    tokenSource: NotRequired[str]
    apiKeySource: NotRequired[str]
    apiProvider: NotRequired[str]


class TaskOutput(TypedDict):
    """What a background task has written so far; `truncated`: only the end of it."""

    output: str
    total_bytes: int
    truncated: bool


class SessionUsage(TypedDict):
    """What the agent process has used."""

    total_cost_usd: float
    total_api_duration_ms: int
    total_duration_ms: int
    total_lines_added: int
    total_lines_removed: int
    model_usage: dict[str, dict[str, Any]]


class UsageReport(TypedDict):
    """What the session, and a subscription if there is one, have used."""

    session: SessionUsage
    subscription_type: NotRequired[str | None]
    rate_limits_available: NotRequired[bool]
    rate_limits: NotRequired[Any]
    behaviors: NotRequired[Any]


class SettingsInForce(TypedDict):
    """The settings in force, the sources they come from, and what follows from them."""

    effective: dict[str, Any]
    sources: list[Any]
    applied: NotRequired[dict[str, Any]]


class ReloadPluginsResult(TypedDict):
    """What there is after the plugins were read again."""

    commands: list[CommandInfo]
    agents: list[AgentInfo]
    plugins: list[dict[str, Any]]
    mcpServers: list[dict[str, Any]]
    error_count: int
