"""Everything that a host asks of its agent."""

from __future__ import annotations

from functools import cache

from .bodies import BadRequest, BodyDecoder, UnknownRequest
from .requests_agent import McpMessage
from .requests_ask import (
    FileSuggestions,
    GetBinaryVersion,
    GetContextUsage,
    GetHooksListing,
    GetSessionCost,
    GetSettings,
    GetTaskOutput,
    GetUsage,
    ListModels,
    ListPermissionRules,
    McpCall,
    McpReadResource,
    McpReconnect,
    McpSetServers,
    McpStatus,
    McpToggle,
    ReadFile,
)
from .requests_steer import (
    ApplyFlagSettings,
    BackgroundTasks,
    CancelAsyncMessage,
    EndSession,
    Initialize,
    Interrupt,
    RegisterRepoRoot,
    ReloadOutputStyles,
    ReloadPlugins,
    ReloadSkills,
    RenameSession,
    RewindFiles,
    SeedReadState,
    SetColor,
    SetHasSubscribers,
    SetMaxThinkingTokens,
    SetModel,
    SetPermissionMode,
    StopTask,
    UpdateSettings,
)

__all__ = ["HostRequest", "decode_host_request"]

HostRequest = (
    ApplyFlagSettings
    | BackgroundTasks
    | CancelAsyncMessage
    | EndSession
    | FileSuggestions
    | GetBinaryVersion
    | GetContextUsage
    | GetHooksListing
    | GetSessionCost
    | GetSettings
    | GetTaskOutput
    | GetUsage
    | Initialize
    | Interrupt
    | ListModels
    | ListPermissionRules
    | McpCall
    | McpMessage
    | McpReadResource
    | McpReconnect
    | McpSetServers
    | McpStatus
    | McpToggle
    | ReadFile
    | RegisterRepoRoot
    | ReloadOutputStyles
    | ReloadPlugins
    | ReloadSkills
    | RenameSession
    | RewindFiles
    | SeedReadState
    | SetColor
    | SetHasSubscribers
    | SetMaxThinkingTokens
    | SetModel
    | SetPermissionMode
    | StopTask
    | UpdateSettings
)
"""Told apart by `subtype`."""


def decode_host_request(raw: bytes) -> HostRequest | UnknownRequest | BadRequest:
    """Decode the raw body of a host's request."""
    return _decoder().decode(raw)


@cache
def _decoder() -> BodyDecoder[HostRequest]:
    return BodyDecoder(HostRequest)
