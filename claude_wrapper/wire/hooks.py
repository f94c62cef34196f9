"""Which hooks the host has, and every event that a hook may be told of."""

from __future__ import annotations

from msgspec import UNSET

from .hook_call_inputs import (
    PermissionDeniedInput,
    PermissionRequestInput,
    PostToolBatchInput,
    PostToolUseFailureInput,
    PostToolUseInput,
    PreSkillShellCommandInput,
    PreToolUseInput,
)
from .hook_session_inputs import (
    ConfigChangeInput,
    CwdChangedInput,
    DirectoryAddedInput,
    ElicitationInput,
    ElicitationResultInput,
    FileChangedInput,
    InstructionsLoadedInput,
    NotificationInput,
    PostCompactInput,
    PostModelSwitchInput,
    PreCompactInput,
    PreModelSwitchInput,
    SessionEndInput,
    SessionStartInput,
    SetupInput,
    TaskCompletedInput,
    TaskCreatedInput,
    TeammateIdleInput,
    WorktreeCreateInput,
    WorktreeRemoveInput,
)
from .hook_turn_inputs import (
    MessageDisplayInput,
    StopFailureInput,
    StopInput,
    SubagentStartInput,
    SubagentStopInput,
    UserPromptExpansionInput,
    UserPromptSubmitInput,
)
from .records import Number, OptionalText, Part, Text

__all__ = ["HookEventInput", "HookMatcherBody"]


class HookMatcherBody(Part, rename="camel"):
    """Hooks of the host for one event, and the tools or sources they are for (null: all)."""

    hook_callback_ids: list[str]
    matcher: OptionalText = UNSET
    timeout: Number = UNSET
    """Seconds."""
    on_failure: Text = UNSET
    """`continue` or `block`: what an error of the hook means for the action."""


HookEventInput = (
    ConfigChangeInput
    | CwdChangedInput
    | DirectoryAddedInput
    | ElicitationInput
    | ElicitationResultInput
    | FileChangedInput
    | InstructionsLoadedInput
    | MessageDisplayInput
    | NotificationInput
    | PermissionDeniedInput
    | PermissionRequestInput
    | PostCompactInput
    | PostModelSwitchInput
    | PostToolBatchInput
    | PostToolUseFailureInput
    | PostToolUseInput
    | PreCompactInput
    | PreModelSwitchInput
    | PreSkillShellCommandInput
    | PreToolUseInput
    | SessionEndInput
    | SessionStartInput
    | SetupInput
    | StopFailureInput
    | StopInput
    | SubagentStartInput
    | SubagentStopInput
    | TaskCompletedInput
    | TaskCreatedInput
    | TeammateIdleInput
    | UserPromptExpansionInput
    | UserPromptSubmitInput
    | WorktreeCreateInput
    | WorktreeRemoveInput
)
"""Every event, told apart by `hook_event_name`."""
