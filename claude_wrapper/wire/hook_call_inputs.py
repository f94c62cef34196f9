"""Hook events about tool calls."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from .hook_base import HookInputPart
from .permissions import PermissionUpdateBody
from .records import Flag, Number, Object, Part, Text

__all__ = [
    "PermissionDeniedInput",
    "PermissionRequestInput",
    "PostToolBatchInput",
    "PostToolUseFailureInput",
    "PostToolUseInput",
    "PreSkillShellCommandInput",
    "PreToolUseInput",
    "ToolCallBody",
]


class PreToolUseInput(HookInputPart, tag="PreToolUse"):
    """A tool is about to run."""

    tool_name: str
    tool_input: Object
    tool_use_id: str
    mcp_server: Object | UnsetType = UNSET


class PostToolUseInput(HookInputPart, tag="PostToolUse"):
    """A tool has run; `tool_response` is its structured output."""

    tool_name: str
    tool_input: Object
    tool_response: Any
    tool_use_id: str
    duration_ms: Number = UNSET
    mcp_server: Object | UnsetType = UNSET


class PostToolUseFailureInput(HookInputPart, tag="PostToolUseFailure"):
    """A tool has failed."""

    tool_name: str
    tool_input: Object
    tool_use_id: str
    error: str
    is_interrupt: Flag = UNSET
    duration_ms: Number = UNSET
    mcp_server: Object | UnsetType = UNSET


class ToolCallBody(Part):
    """One call of a batch, with its result as the model sees it."""

    tool_name: str
    tool_input: Object
    tool_use_id: str
    tool_response: Any = UNSET


class PostToolBatchInput(HookInputPart, tag="PostToolBatch"):
    """All tools of one reply have run."""

    tool_calls: list[ToolCallBody]


class PermissionRequestInput(HookInputPart, tag="PermissionRequest"):
    """Somebody would be asked whether a tool may run, or it would be denied for want of somebody."""

    tool_name: str
    tool_input: Object
    permission_suggestions: list[PermissionUpdateBody] | UnsetType = UNSET


class PermissionDeniedInput(HookInputPart, tag="PermissionDenied"):
    """The classifier of the mode `auto` denied a call."""

    tool_name: str
    tool_input: Object
    tool_use_id: str
    reason: str


class PreSkillShellCommandInput(HookInputPart, tag="PreSkillShellCommand"):
    """A skill or command is about to run a shell command that stands in its text."""

    tool_name: str
    tool_input: Object
    tool_use_id: str
    command_name: str
    command_source: Text = UNSET
    invoked_by: Text = UNSET
