"""Bodies about permission: rules, updates, the question to the host and its answers."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType, field

from .bodies import decode_reply
from .records import Flag, Object, OptionalText, Part, Text

__all__ = [
    "AllowReply",
    "CanUseTool",
    "DenyReply",
    "PermissionMode",
    "PermissionReply",
    "PermissionUpdateBody",
    "RuleBody",
    "decode_permission_reply",
]


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
    blocked_path: OptionalText = UNSET
    decision_reason: OptionalText = UNSET
    decision_reason_type: Text = UNSET
    decision_reason_rule_source: Text = UNSET
    decision_reason_hook_event: Text = UNSET
    decision_reason_hook_source: Text = UNSET
    classifier_approvable: Flag = UNSET
    mcp_server: Object | UnsetType = UNSET
    server_policy_ask_only: Flag = UNSET
    agent_id: OptionalText = UNSET
    requires_user_interaction: Flag = UNSET
    suppress_always_allow_rule: Flag = UNSET
    default_to_no: Flag = UNSET
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
    interrupt: Flag = UNSET
    tool_use_id: Text = field(name="toolUseID", default=UNSET)
    decision_classification: Text = UNSET


PermissionReply = AllowReply | DenyReply


def decode_permission_reply(raw: bytes | None) -> PermissionReply:
    """Decode the answer to a CanUseTool; raises MessageParseError."""
    return decode_reply(raw, PermissionReply)  # type: ignore[arg-type]  # mypy has no type for a union as a value


PermissionMode = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"]
