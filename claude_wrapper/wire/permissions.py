"""Bodies about permission: rules, updates, the question to the host and its answers."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType, field

from .records import Part

__all__ = [
    "AllowReply",
    "CanUseTool",
    "DenyReply",
    "PermissionMode",
    "PermissionReply",
    "PermissionUpdateBody",
    "RuleBody",
]

Text = str | UnsetType
Object = dict[str, Any]


class RuleBody(Part, rename="camel"):
    """A permission rule: a tool and, optionally, what of it."""

    tool_name: str
    rule_content: Text = UNSET


class PermissionUpdateBody(Part):
    """One change of the permission state; which fields count depends on `type`."""

    type: str
    rules: list[RuleBody] | UnsetType = UNSET
    behavior: Text = UNSET
    mode: Text = UNSET
    directories: list[str] | UnsetType = UNSET
    destination: Text = UNSET


class CanUseTool(Part, tag_field="subtype", tag="can_use_tool"):
    """Agent to host: the question whether a tool call may run."""

    tool_name: str
    input: Object
    tool_use_id: Text = UNSET
    display_name: Text = UNSET
    title: Text = UNSET
    description: Text = UNSET
    permission_suggestions: list[PermissionUpdateBody] | UnsetType | None = UNSET
    blocked_path: str | UnsetType | None = UNSET
    decision_reason: str | UnsetType | None = UNSET
    decision_reason_type: Text = UNSET
    decision_reason_hook_event: Text = UNSET
    decision_reason_hook_source: Text = UNSET
    classifier_approvable: bool | UnsetType = UNSET
    mcp_server: Object | UnsetType = UNSET
    server_policy_ask_only: bool | UnsetType = UNSET
    agent_id: str | UnsetType | None = UNSET
    requires_user_interaction: bool | UnsetType = UNSET
    suppress_always_allow_rule: bool | UnsetType = UNSET
    default_to_no: bool | UnsetType = UNSET
    matched_ask_rule: Any = UNSET


class AllowReply(Part, tag_field="behavior", tag="allow", rename="camel"):
    """The host allows the call, perhaps with another input; no `updated_input` means unchanged."""

    updated_input: Object | UnsetType | None = UNSET
    updated_permissions: list[Object] | UnsetType | None = UNSET
    tool_use_id: Text = field(name="toolUseID", default=UNSET)
    decision_classification: Text = UNSET


class DenyReply(Part, tag_field="behavior", tag="deny", rename="camel"):
    """The host refuses the call; with `interrupt` it ends the turn as well."""

    message: Text = UNSET
    interrupt: bool | UnsetType = UNSET
    tool_use_id: Text = field(name="toolUseID", default=UNSET)
    decision_classification: Text = UNSET


PermissionReply = AllowReply | DenyReply

PermissionMode = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"]
