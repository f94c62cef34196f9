"""The frames of each direction, told apart by `type`."""

from __future__ import annotations

from .control import ControlCancelFrame, ControlRequestFrame, ControlResponseFrame, KeepAliveFrame
from .messages import (
    AssistantFrame,
    ConversationResetFrame,
    PromptFrame,
    RateLimitEventFrame,
    ResultFrame,
    StreamEventFrame,
    UserFrame,
)
from .notices import (
    ActiveGoalFrame,
    AuthStatusFrame,
    AutocompactStateFrame,
    CommandLifecycleFrame,
    PromptSuggestionFrame,
    SystemHead,
    ToolProgressFrame,
    ToolUseSummaryFrame,
    TranscriptMirrorFrame,
    UpdateEnvironmentVariablesFrame,
)

__all__ = ["AgentFrame", "HostFrame"]

AgentFrame = (
    AssistantFrame
    | UserFrame
    | ResultFrame
    | SystemHead
    | StreamEventFrame
    | ControlRequestFrame
    | ControlResponseFrame
    | ControlCancelFrame
    | KeepAliveFrame
    | RateLimitEventFrame
    | ConversationResetFrame
    | PromptSuggestionFrame
    | ToolProgressFrame
    | ToolUseSummaryFrame
    | AuthStatusFrame
    | CommandLifecycleFrame
    | ActiveGoalFrame
    | AutocompactStateFrame
    | TranscriptMirrorFrame
)
"""What an agent writes. Of a system frame this has the head alone: `decode_system` reads the rest."""

HostFrame = (
    PromptFrame
    | ControlRequestFrame
    | ControlResponseFrame
    | ControlCancelFrame
    | KeepAliveFrame
    | UpdateEnvironmentVariablesFrame
)
"""What a host writes."""
