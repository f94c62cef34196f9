"""A call as it is decided on, and what is said of it: to the host, and in its result."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from claude_wrapper.agent.hooks.outcome import PreToolOutcome
from claude_wrapper.agent.permissions.call import Decision
from claude_wrapper.wire.permissions import CanUseTool

from .call import ToolCall

__all__ = ["Approved", "Question", "accepted", "host_question", "insists", "refuser"]


class Question(msgspec.Struct, frozen=True):
    """A call as it is decided on."""

    call: ToolCall
    tool_input: dict[str, Any]
    """With every path absolute."""
    decision: Decision
    display_name: str
    mcp_server: dict[str, Any] | None = None


class Approved(msgspec.Struct, frozen=True):
    """The call may run, with another input if one is given."""

    decision: dict[str, Any]
    updated_input: dict[str, Any] | None = None
    by_user: bool = False
    """A person, or the host in their place, allowed it."""


def accepted(decision: Decision) -> dict[str, Any]:
    """How a result says that the decision let the call run."""
    accepted: dict[str, Any] = {"decision": "accept", "source": _approver(decision)}
    if decision.reason_type is not None:
        accepted["reason_type"] = decision.reason_type
    return accepted


def _approver(decision: Decision) -> str:
    """Whose word allows the call: the user's, for this session or for good, or that of the set-up."""
    source = decision.rule.source if decision.rule is not None and decision.reason_type == "rule" else None
    if source in {"userSettings", "localSettings"}:
        return "user_permanent"
    return "user_temporary" if source == "session" else "config"


def refuser(decision: Decision) -> str:
    """Whose word refuses the call."""
    source = decision.rule.source if decision.rule is not None and decision.reason_type == "rule" else None
    return "user_reject" if source in {"userSettings", "localSettings", "session"} else "config"


def insists(decision: Decision) -> bool:
    """Whether the question has to be put even though a hook allowed the call."""
    by_rule = decision.rule is not None and decision.rule.behavior == "ask"
    return by_rule or decision.requires_interaction or decision.reason_type == "safetyCheck"


def _described(question: Question) -> str | UnsetType:
    """What a call says about itself; for calls that are asked about although nothing but a hook wants it."""
    text = question.tool_input.get("description")
    return text if isinstance(text, str) and text else UNSET


def host_question(question: Question, hook: PreToolOutcome) -> CanUseTool:
    """The request that asks the host."""
    decision = question.decision
    body = CanUseTool(
        tool_name=question.call.name,
        display_name=question.display_name,
        input=question.tool_input,
        tool_use_id=question.call.id,
        mcp_server=question.mcp_server if question.mcp_server is not None else UNSET,
        description=decision.description or _described(question),
        requires_user_interaction=True if decision.requires_interaction else UNSET,
        suppress_always_allow_rule=True if decision.suppress_always_allow else UNSET,
        server_policy_ask_only=True if question.mcp_server is not None else UNSET,
    )
    if hook.decision == "ask":
        body.decision_reason_type = "hook"
        body.decision_reason_hook_event = "PreToolUse"
        body.decision_reason_hook_source = "settings"
        body.decision_reason = hook.reason if hook.reason is not None else UNSET
        return body
    if decision.requires_interaction and question.mcp_server is not None:
        body.server_policy_ask_only = False
        body.permission_suggestions = []
        return body
    if decision.rule is not None and decision.rule.behavior == "ask":
        body.decision_reason_type = "rule"
        body.decision_reason_rule_source = decision.rule.source
        body.server_policy_ask_only = False
        return body
    body.permission_suggestions = list(decision.suggestions) if decision.suggestions is not None else UNSET
    body.blocked_path = decision.blocked_path if decision.blocked_path is not None else UNSET
    body.decision_reason_type = decision.reason_type or UNSET
    body.decision_reason = decision.reason if decision.reason is not None else UNSET
    body.classifier_approvable = (
        decision.classifier_approvable if decision.classifier_approvable is not None else UNSET
    )
    return body
