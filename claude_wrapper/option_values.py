"""The values that options are made of: prompts, tool sets, thinking, budgets, plugins, agents."""

# Annotations are evaluated here: a TypedDict does not see what is marked NotRequired in strings.

import sys
from dataclasses import dataclass
from typing import Any, Literal

from .approval import PermissionMode

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

__all__ = [
    "AgentDefinition",
    "EffortLevel",
    "SdkBeta",
    "SdkPluginConfig",
    "SessionStoreFlushMode",
    "SettingSource",
    "SystemPromptCustom",
    "SystemPromptFile",
    "SystemPromptPreset",
    "TaskBudget",
    "ThinkingConfig",
    "ThinkingConfigAdaptive",
    "ThinkingConfigDisabled",
    "ThinkingConfigEnabled",
    "ThinkingDisplay",
    "ToolsPreset",
]

SettingSource = Literal["user", "project", "local"]
"""Settings files: of the user, of the project, and of the user in the project."""

SdkBeta = Literal["context-1m-2025-08-07"]

EffortLevel = Literal["low", "medium", "high", "xhigh", "max"]

ThinkingDisplay = Literal["summarized", "omitted"]

SessionStoreFlushMode = Literal["batched", "eager"]
"""When transcript entries go to the session store: collected, or each at once."""


class SystemPromptPreset(TypedDict):
    """The agent's own system prompt, perhaps with something added."""

    type: Literal["preset"]
    preset: Literal["claude_code"]
    append: NotRequired[str]
    exclude_dynamic_sections: NotRequired[bool]
    """Keep what changes from machine to machine out of the prompt, so that it can be cached."""
    snapshot: NotRequired[bool]
    """Keep the prompt of a resumed session as it was."""


class SystemPromptCustom(TypedDict):
    """A system prompt of your own."""

    type: Literal["custom"]
    prompt: str
    snapshot: NotRequired[bool]


class SystemPromptFile(TypedDict):
    """A system prompt that the agent reads from a file."""

    type: Literal["file"]
    path: str


class ToolsPreset(TypedDict):
    """All tools the agent has."""

    type: Literal["preset"]
    preset: Literal["claude_code"]


class TaskBudget(TypedDict):
    """How many tokens the model is told it has for the task."""

    total: int


class ThinkingConfigAdaptive(TypedDict):
    """The model decides how much to think."""

    type: Literal["adaptive"]
    display: NotRequired[ThinkingDisplay]


class ThinkingConfigEnabled(TypedDict):
    """The model thinks, with a budget of tokens."""

    type: Literal["enabled"]
    budget_tokens: int
    display: NotRequired[ThinkingDisplay]


class ThinkingConfigDisabled(TypedDict):
    """The model does not think."""

    type: Literal["disabled"]


ThinkingConfig = ThinkingConfigAdaptive | ThinkingConfigEnabled | ThinkingConfigDisabled


class SdkPluginConfig(TypedDict):
    """A plugin in a folder of this machine."""

    type: Literal["local"]
    path: str


@dataclass
class AgentDefinition:
    """A subagent that the model may start. Field names are those of the protocol."""

    description: str
    """Tells the model when to use it."""
    prompt: str
    """Its system prompt."""
    tools: list[str] | None = None
    """None: the tools of the main thread."""
    disallowedTools: list[str] | None = None  # noqa: N815  # the protocol's name, public in the official package
    model: str | None = None
    skills: list[str] | None = None
    memory: Literal["user", "project", "local"] | None = None
    mcpServers: list[str | dict[str, Any]] | None = None  # noqa: N815  # likewise
    initialPrompt: str | None = None  # noqa: N815  # likewise
    maxTurns: int | None = None  # noqa: N815  # likewise
    background: bool | None = None
    effort: EffortLevel | int | None = None
    permissionMode: PermissionMode | None = None  # noqa: N815  # likewise
