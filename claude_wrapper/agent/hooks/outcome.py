"""What the answers of all hooks of an event come to; the strictest one wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, field

from claude_wrapper.wire.hook_outputs import (
    AdditionalContextOutput,
    CwdChangedOutput,
    ElicitationOutput,
    HookOutput,
    PermissionDeniedOutput,
    PermissionRequestOutput,
    PostToolUseOutput,
    PreModelSwitchOutput,
    PreToolUseOutput,
    SessionStartOutput,
    UserPromptSubmitOutput,
)
from claude_wrapper.wire.permissions import PermissionReply

from .hook import HostHook
from .reply import HookReply

__all__ = ["Outcome", "PreToolOutcome", "outcome_of", "permission_request_outcome", "pre_tool_outcome"]

Decision = Literal["allow", "ask", "defer", "deny"]
_STRICTNESS: dict[Decision, int] = {"allow": 0, "ask": 1, "defer": 2, "deny": 3}


class Outcome(msgspec.Struct):
    """What every event's answers may say."""

    messages: list[str] = field(default_factory=list)
    """For the user."""
    contexts: list[str] = field(default_factory=list)
    """For the model."""
    stop: bool = False
    stop_reason: str | None = None
    block: str | None = None
    """The reason of the first hook that blocked; empty when it gave none."""
    blocks: list[str] = field(default_factory=list)
    """The reasons of all that did."""
    block_reason: str | None = None
    """The same without the name of the hook."""
    no_verdict: Literal["timeout", "unusable"] | None = None
    """A hook of the settings could not be asked."""
    troubled: bool = False
    """A hook of the settings failed."""
    failed: list[HookReply] = field(default_factory=list)
    timed_out: bool = False
    gone: bool = False
    misplaced: bool = False
    """A hook answered as if it had been asked about another event."""
    replaced: Any = UNSET
    """The output that stands in for the tool's own."""
    title: str | None = None
    retry: bool = False
    """A call that was denied may be tried again."""
    first_prompt: str | None = None
    """A prompt to begin the session with."""
    watch_paths: list[str] | None = None
    """The files to watch from now on."""
    elicited: ElicitationOutput | None = None
    """What is answered in the user's place."""


class PreToolOutcome(Outcome):
    """What the answers say about a call."""

    decision: Decision | None = None
    reason: str | None = None
    updated_input: dict[str, Any] | None = None


def outcome_of(replies: Sequence[HookReply]) -> Outcome:
    """Bring the answers to an event together."""
    outcome = Outcome()
    for reply in replies:
        _common(outcome, reply)
        block, reason = _block(reply)
        if block is not None:
            outcome.blocks.append(block)
            if outcome.block is None:
                outcome.block, outcome.block_reason = block, reason
        if reply.output is not None:
            _specific(outcome, reply.output.hook_specific_output)
    return outcome


def pre_tool_outcome(replies: Sequence[HookReply]) -> PreToolOutcome:
    """Bring the answers about a call together."""
    outcome = PreToolOutcome()
    for reply in replies:
        _common(outcome, reply)
        decision, reason = _decision(reply)
        if decision is not None and (
            outcome.decision is None or _STRICTNESS[decision] > _STRICTNESS[outcome.decision]
        ):
            outcome.decision, outcome.reason = decision, reason
        specific = UNSET if reply.output is None else reply.output.hook_specific_output
        if isinstance(specific, PreToolUseOutput) and isinstance(specific.updated_input, dict):
            outcome.updated_input = specific.updated_input
    if outcome.decision in {"deny", "defer"}:
        outcome.updated_input = None
    return outcome


def permission_request_outcome(replies: Sequence[HookReply]) -> PermissionReply | None:
    """The first answer that a hook gave in place of the user."""
    for reply in replies:
        if reply.output is not None and isinstance(
            reply.output.hook_specific_output, PermissionRequestOutput
        ):
            return reply.output.hook_specific_output.decision
    return None


def _common(outcome: Outcome, reply: HookReply) -> None:
    if not isinstance(reply.hook, HostHook):
        _note_failure(outcome, reply)
    elif reply.failure == "timeout":
        outcome.timed_out = True
    elif reply.failure == "gone":
        outcome.gone = True
    elif reply.failure == "misplaced":
        outcome.misplaced = True
    elif reply.failure is not None:
        outcome.failed.append(reply)
    output = reply.output
    if output is None:
        return
    if isinstance(output.system_message, str) and output.system_message:
        outcome.messages.append(output.system_message)
    if output.continue_ is False:
        outcome.stop = True
        outcome.stop_reason = outcome.stop_reason or _text(output.stop_reason)
    specific = output.hook_specific_output
    if isinstance(specific, AdditionalContextOutput) and isinstance(specific.additional_context, str):
        outcome.contexts.append(specific.additional_context)


def _specific(outcome: Outcome, specific: Any) -> None:
    """What only some events' answers may say."""
    if isinstance(specific, PostToolUseOutput):
        for value in (specific.updated_mcp_tool_output, specific.updated_tool_output):
            outcome.replaced = value if value is not UNSET else outcome.replaced
    if isinstance(specific, UserPromptSubmitOutput):
        outcome.title = _text(specific.session_title) or outcome.title
    if isinstance(specific, ElicitationOutput) and specific.action is not UNSET:
        outcome.elicited = specific
    if isinstance(specific, PermissionDeniedOutput) and specific.retry is True:
        outcome.retry = True
    if isinstance(specific, SessionStartOutput):
        outcome.title = _text(specific.session_title) or outcome.title
        outcome.first_prompt = _text(specific.initial_user_message) or outcome.first_prompt
    if isinstance(specific, SessionStartOutput | CwdChangedOutput) and specific.watch_paths is not UNSET:
        outcome.watch_paths = (outcome.watch_paths or []) + specific.watch_paths


def _note_failure(outcome: Outcome, reply: HookReply) -> None:
    """Those that settings name decide nothing by failing."""
    if reply.failure in {"timeout", "unusable"}:
        outcome.no_verdict = "timeout" if reply.failure == "timeout" else "unusable"
    outcome.troubled = outcome.troubled or reply.failure in {"unusable", "nonzero"}


def _block(reply: HookReply) -> tuple[str | None, str | None]:
    if reply.block is not None:
        return reply.block, reply.reason
    if reply.output is not None and reply.output.decision == "block":
        reason = _text(reply.output.reason) or ""
        return reason, reason
    return None, None


def _decision(reply: HookReply) -> tuple[Decision | None, str | None]:
    if reply.block is not None:
        return "deny", reply.block
    return (None, None) if reply.output is None else _said(reply.output)


def _said(output: HookOutput) -> tuple[Decision | None, str | None]:
    specific = output.hook_specific_output
    if isinstance(specific, PreToolUseOutput | PreModelSwitchOutput) and isinstance(
        specific.permission_decision, str
    ):
        return specific.permission_decision, _text(specific.permission_decision_reason)
    if output.decision == "block":
        return "deny", _text(output.reason)
    if output.decision == "approve":
        return "allow", _text(output.reason)
    return None, None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
