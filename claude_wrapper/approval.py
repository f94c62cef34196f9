"""What a permission callback is given and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "CanUseTool",
    "CanUseToolShadowedWarning",
    "PermissionBehavior",
    "PermissionMode",
    "PermissionResult",
    "PermissionResultAllow",
    "PermissionResultDeny",
    "PermissionRuleValue",
    "PermissionUpdate",
    "PermissionUpdateDestination",
    "ToolPermissionContext",
]

PermissionMode = Literal["default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"]
"""How calls are decided that no rule covers."""

PermissionBehavior = Literal["allow", "deny", "ask"]

PermissionUpdateDestination = Literal["userSettings", "projectSettings", "localSettings", "session"]
"""Where a permission update is kept; `session` lasts as long as the session."""

UpdateType = Literal[
    "addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories"
]

_NEEDS: dict[str, tuple[tuple[str, str], ...]] = {
    "addRules": (("rules", "a list of PermissionRuleValue"), ("behavior", "'allow', 'deny' or 'ask'")),
    "setMode": (("mode", "a permission mode such as 'acceptEdits'"),),
    "addDirectories": (("directories", "a list of paths"),),
}
_NEEDS["replaceRules"] = _NEEDS["removeRules"] = _NEEDS["addRules"]
_NEEDS["removeDirectories"] = _NEEDS["addDirectories"]


class CanUseToolShadowedWarning(UserWarning):
    """Other options decide calls before `can_use_tool` would be asked."""


@dataclass
class PermissionRuleValue:
    """A permission rule: a tool, and what of it (None: all of it)."""

    tool_name: str
    rule_content: str | None = None


@dataclass
class PermissionUpdate:
    """One change of the permission state; `type` says which of the other fields count."""

    type: UpdateType
    rules: list[PermissionRuleValue] | None = None
    behavior: PermissionBehavior | None = None
    mode: PermissionMode | None = None
    directories: list[str] | None = None
    destination: PermissionUpdateDestination | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the update as the agent takes it; ValueError when a field it needs is missing.

        An agent that meets one incomplete update drops all that came with it, so nothing
        incomplete is sent.
        """
        needs = _NEEDS.get(self.type)
        if needs is None:
            raise ValueError(f"PermissionUpdate has the type {self.type!r}; known are {', '.join(_NEEDS)}")
        update: dict[str, Any] = {"type": self.type, "destination": self.destination or "session"}
        for name, what in needs:
            value = getattr(self, name)
            if value is None:
                raise ValueError(f"PermissionUpdate(type={self.type!r}) has no {name}: set it to {what}")
            update[name] = [_rule_body(rule) for rule in value] if name == "rules" else value
        return update

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PermissionUpdate:
        """Read an update that the agent suggested; fields this version does not know are left out."""
        rules = data.get("rules")
        return cls(
            type=data["type"],
            rules=None if rules is None else [_rule_value(rule) for rule in rules],
            behavior=data.get("behavior"),
            mode=data.get("mode"),
            directories=data.get("directories"),
            destination=data.get("destination"),
        )


@dataclass
class ToolPermissionContext:
    """What the agent says about the call that `can_use_tool` decides."""

    signal: Any | None = None
    suggestions: list[PermissionUpdate] = field(default_factory=list)
    """Updates that would let such calls pass from now on; hand them back to accept them."""
    tool_use_id: str | None = None
    agent_id: str | None = None
    """The subagent that asks; None on the main thread."""
    blocked_path: str | None = None
    decision_reason: str | None = None
    title: str | None = None
    display_name: str | None = None
    description: str | None = None


@dataclass
class PermissionResultAllow:
    """The call may run, with `updated_input` in place of its input unless that is None."""

    behavior: Literal["allow"] = "allow"
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[PermissionUpdate] | None = None


@dataclass
class PermissionResultDeny:
    """The call is refused; the model reads `message`. `interrupt` ends the turn as well."""

    behavior: Literal["deny"] = "deny"
    message: str = ""
    interrupt: bool = False


PermissionResult = PermissionResultAllow | PermissionResultDeny

CanUseTool = Callable[[str, dict[str, Any], ToolPermissionContext], Awaitable[PermissionResult]]
"""Decides a tool call, given the tool's name, its input and the context."""


def _rule_body(rule: PermissionRuleValue) -> dict[str, str]:
    body = {"toolName": rule.tool_name}
    if rule.rule_content is not None:
        body["ruleContent"] = rule.rule_content
    return body


def _rule_value(rule: dict[str, Any]) -> PermissionRuleValue:
    return PermissionRuleValue(rule["toolName"], rule.get("ruleContent"))
