"""What a hook may answer: decide, change, add, or keep out of it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType, field

from .permissions import PermissionReply
from .records import Flag, Number, Object, Part, Text

__all__ = [
    "AdditionalContextOutput",
    "CwdChangedOutput",
    "ElicitationOutput",
    "ElicitationResultOutput",
    "FileChangedOutput",
    "HookOutput",
    "HookSpecificOutput",
    "MessageDisplayOutput",
    "NotificationOutput",
    "PermissionDeniedOutput",
    "PermissionRequestOutput",
    "PostModelSwitchOutput",
    "PostToolBatchOutput",
    "PostToolUseFailureOutput",
    "PostToolUseOutput",
    "PreModelSwitchOutput",
    "PreToolUseOutput",
    "SessionStartOutput",
    "SetupOutput",
    "SpecificPart",
    "StopOutput",
    "SubagentStartOutput",
    "SubagentStopOutput",
    "UserPromptExpansionOutput",
    "UserPromptSubmitOutput",
    "WorktreeCreateOutput",
]


class SpecificPart(Part, tag_field="hookEventName", rename="camel"):
    """The part of an answer that only its event understands."""


class AdditionalContextOutput(SpecificPart):
    """Something for the model to know."""

    additional_context: Text = UNSET


class NotificationOutput(AdditionalContextOutput, tag="Notification"):
    """For Notification."""


class PostModelSwitchOutput(AdditionalContextOutput, tag="PostModelSwitch"):
    """For PostModelSwitch."""


class PostToolBatchOutput(AdditionalContextOutput, tag="PostToolBatch"):
    """For PostToolBatch."""


class PostToolUseFailureOutput(AdditionalContextOutput, tag="PostToolUseFailure"):
    """For PostToolUseFailure."""


class SetupOutput(AdditionalContextOutput, tag="Setup"):
    """For Setup."""


class StopOutput(AdditionalContextOutput, tag="Stop"):
    """For Stop."""


class SubagentStartOutput(AdditionalContextOutput, tag="SubagentStart"):
    """For SubagentStart."""


class SubagentStopOutput(AdditionalContextOutput, tag="SubagentStop"):
    """For SubagentStop."""


class PreToolUseOutput(AdditionalContextOutput, tag="PreToolUse"):
    """Decides on a call, or changes its input; `defer` ends the run with the call undone."""

    permission_decision: Literal["allow", "deny", "ask", "defer"] | UnsetType = UNSET
    permission_decision_reason: Text = UNSET
    updated_input: Object | UnsetType = UNSET


class PostToolUseOutput(AdditionalContextOutput, tag="PostToolUse"):
    """Replaces what the tool gave back."""

    updated_tool_output: Any = UNSET
    updated_mcp_tool_output: Any = field(name="updatedMCPToolOutput", default=UNSET)
    classifier_context: Text = UNSET


class UserPromptSubmitOutput(AdditionalContextOutput, tag="UserPromptSubmit"):
    """Adds to a prompt, or hides it."""

    session_title: Text = UNSET
    suppress_original_prompt: Flag = UNSET


class UserPromptExpansionOutput(AdditionalContextOutput, tag="UserPromptExpansion"):
    """Adds to a command's prompt, or hides it."""

    suppress_original_prompt: Flag = UNSET


class SessionStartOutput(AdditionalContextOutput, tag="SessionStart"):
    """Gives a session something to start with."""

    initial_user_message: Text = UNSET
    session_title: Text = UNSET
    watch_paths: list[str] | UnsetType = UNSET
    reload_skills: Flag = UNSET


class PermissionRequestOutput(SpecificPart, tag="PermissionRequest"):
    """Answers in place of the user."""

    decision: PermissionReply


class PermissionDeniedOutput(SpecificPart, tag="PermissionDenied"):
    """Lets the model try again."""

    retry: Flag = UNSET


class PreModelSwitchOutput(SpecificPart, tag="PreModelSwitch"):
    """Decides on a switch."""

    permission_decision: Literal["allow", "deny", "ask"] | UnsetType = UNSET
    permission_decision_reason: Text = UNSET


class ElicitationOutput(SpecificPart, tag="Elicitation"):
    """Answers in place of the user."""

    action: Literal["accept", "decline", "cancel"] | UnsetType = UNSET
    content: Object | UnsetType = UNSET


class ElicitationResultOutput(ElicitationOutput, tag="ElicitationResult"):
    """Replaces the user's answer."""


class CwdChangedOutput(SpecificPart, tag="CwdChanged"):
    """Names the files to watch from now on."""

    watch_paths: list[str] | UnsetType = UNSET


class FileChangedOutput(CwdChangedOutput, tag="FileChanged"):
    """Names the files to watch from now on."""


class MessageDisplayOutput(SpecificPart, tag="MessageDisplay"):
    """Replaces what is shown."""

    display_content: Text = UNSET


class WorktreeCreateOutput(SpecificPart, tag="WorktreeCreate"):
    """Says where the worktree is."""

    worktree_path: str


HookSpecificOutput = (
    CwdChangedOutput
    | ElicitationOutput
    | ElicitationResultOutput
    | FileChangedOutput
    | MessageDisplayOutput
    | NotificationOutput
    | PermissionDeniedOutput
    | PermissionRequestOutput
    | PostModelSwitchOutput
    | PostToolBatchOutput
    | PostToolUseFailureOutput
    | PostToolUseOutput
    | PreModelSwitchOutput
    | PreToolUseOutput
    | SessionStartOutput
    | SetupOutput
    | StopOutput
    | SubagentStartOutput
    | SubagentStopOutput
    | UserPromptExpansionOutput
    | UserPromptSubmitOutput
    | WorktreeCreateOutput
)
"""Told apart by `hookEventName`, which has to be the event that was asked about."""


class HookOutput(Part, rename="camel"):
    """A hook's answer; an empty one has no opinion. With `async_` the hook goes on by itself."""

    continue_: bool | UnsetType = field(name="continue", default=UNSET)
    """False ends the loop, whatever else the answer says."""
    stop_reason: Text = UNSET
    suppress_output: Flag = UNSET
    system_message: Text = UNSET
    terminal_sequence: Text = UNSET
    decision: Literal["approve", "block"] | UnsetType = UNSET
    reason: Text = UNSET
    hook_specific_output: HookSpecificOutput | UnsetType = UNSET
    async_: bool | UnsetType = field(name="async", default=UNSET)
    async_timeout: Number = UNSET
    """Milliseconds."""
