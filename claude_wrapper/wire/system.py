"""The frames of type `system`: their union, and how the line behind a head is read."""

from __future__ import annotations

from functools import cache

from .codec import BadFrame, FrameDecoder, MalformedLine, UnknownFrame
from .framing import Line
from .notices import SystemHead
from .system_notes import (
    ControlRequestProgressFrame,
    ElicitationCompleteFrame,
    HookProgressFrame,
    HookResponseFrame,
    HookStartedFrame,
    InformationalFrame,
    LocalCommandOutputFrame,
    NotificationFrame,
    PermissionDeniedFrame,
    PluginInstallFrame,
)
from .system_session import (
    ApiRetryFrame,
    CommandsChangedFrame,
    CompactBoundaryFrame,
    FilesPersistedFrame,
    InitFrame,
    MemoryRecallFrame,
    MirrorErrorFrame,
    ModelFallbackFrame,
    ModelRefusalFallbackFrame,
    ModelRefusalNoFallbackFrame,
    SessionStateChangedFrame,
    SessionTitleChangedFrame,
    SessionWritesLostFrame,
    StatusFrame,
    ThinkingTokensFrame,
    WorkerShuttingDownFrame,
)
from .system_tasks import (
    BackgroundTasksChangedFrame,
    TaskNotificationFrame,
    TaskProgressFrame,
    TaskStartedFrame,
    TaskUpdatedFrame,
)

__all__ = ["SystemFrame", "SystemHead", "decode_system"]


SystemFrame = (
    ApiRetryFrame
    | BackgroundTasksChangedFrame
    | CommandsChangedFrame
    | CompactBoundaryFrame
    | ControlRequestProgressFrame
    | ElicitationCompleteFrame
    | FilesPersistedFrame
    | HookProgressFrame
    | HookResponseFrame
    | HookStartedFrame
    | InformationalFrame
    | InitFrame
    | LocalCommandOutputFrame
    | MemoryRecallFrame
    | MirrorErrorFrame
    | ModelFallbackFrame
    | ModelRefusalFallbackFrame
    | ModelRefusalNoFallbackFrame
    | NotificationFrame
    | PermissionDeniedFrame
    | PluginInstallFrame
    | SessionStateChangedFrame
    | SessionTitleChangedFrame
    | SessionWritesLostFrame
    | StatusFrame
    | TaskNotificationFrame
    | TaskProgressFrame
    | TaskStartedFrame
    | TaskUpdatedFrame
    | ThinkingTokensFrame
    | WorkerShuttingDownFrame
)
"""Every system frame with a shape of its own, told apart by `subtype`."""


def decode_system(line: Line) -> SystemFrame | UnknownFrame | BadFrame | MalformedLine:
    """Decode the line behind a SystemHead; an unknown subtype comes back as UnknownFrame."""
    return _decoder().decode(line)


@cache
def _decoder() -> FrameDecoder[SystemFrame]:
    return FrameDecoder(SystemFrame)
