"""The names that programs import from `claude_agent_sdk.types`, so that changing that import is enough.

A module of this name breaks our own naming rule on purpose: users' imports name it.
"""

from __future__ import annotations

import importlib
from typing import Any

import claude_wrapper

__all__: list[str] = [name for name in claude_wrapper.__all__ if name != "__version__"]

_MORE = {
    "AssistantMessageError": "messages",
    "AsyncHookJSONOutput": "hook_outputs",
    "HookEvent": "hook_matchers",
    "HookSpecificOutput": "hook_outputs",
    "McpClaudeAIProxyServerConfig": "mcp_status",
    "McpHttpServerConfig": "mcp_config",
    "McpSSEServerConfig": "mcp_config",
    "McpSdkServerConfigStatus": "mcp_status",
    "McpStdioServerConfig": "mcp_config",
    "PermissionBehavior": "approval",
    "PermissionRuleValue": "approval",
    "PermissionUpdateDestination": "approval",
    "SyncHookJSONOutput": "hook_outputs",
    "SystemPromptCustom": "option_values",
    "SystemPromptFile": "option_values",
    "SystemPromptPreset": "option_values",
    "ThinkingDisplay": "option_values",
    "ToolsPreset": "option_values",
}
"""Public names of the official `types` that its package does not export at the top, by their module here."""


def __getattr__(name: str) -> Any:
    if name in _MORE:
        return getattr(importlib.import_module(f"claude_wrapper.{_MORE[name]}"), name)
    if name.startswith("__") or name not in claude_wrapper.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(claude_wrapper, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MORE})
