"""Whether a call may run: rules and mode first, then whoever can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

import anyio
import msgspec
from msgspec import UNSET

from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.hooking.events import HookEvents
from claude_wrapper.agent.hooking.notices import call_denied, waiting_for_permission
from claude_wrapper.agent.hooks.outcome import PreToolOutcome
from claude_wrapper.agent.host.interrupts import Interruption
from claude_wrapper.agent.host.link import HostRefusedError
from claude_wrapper.agent.permissions import wording
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.wire.permissions import AllowReply, CanUseTool, DenyReply, PermissionReply

from .call import CallResult, ToolCall, given_up, rejected_by_user
from .question import Approved, Question, accepted, host_question, insists, refuser
from .safety_check import SafetyCheck

__all__ = ["Approval", "PermissionHost"]

_BY_HOOK = {"source": "hook", "reason_type": "hook"}
_CHANGES = frozenset({"Bash", "Edit", "NotebookEdit", "Write"})
_GRACE_SECONDS = 0.1
_NO_SURFACE = "this session has no approval surface, so the call was denied without asking"
_NO_SURFACE_FOR_MODEL = (
    "It has to be approved, and this session has no approval surface: nobody answers, now or later. The call was "
    "not carried out. Do not try it again; do what can be done without, and tell the user what is missing. "
    "What has to be approved: "
)
_TRY_AGAIN = "A hook lets the call that was denied be tried again."
_FALLBACK_DENIAL = "The user did not allow this call."


class PermissionHost(Protocol):
    """Answers questions about permission."""

    async def can_use_tool(self, question: CanUseTool) -> PermissionReply:
        """Raises HostRefusedError."""
        ...


class Approval:
    """Settles what the decision left open.

    `host` is None when nobody can be asked. `no_prompts` says that this is meant so.
    """

    def __init__(
        self,
        access: Access,
        frames: Frames,
        hooks: HookEvents,
        interruption: Interruption,
        host: PermissionHost | None,
        *,
        no_prompts: bool = False,
        check: SafetyCheck | None = None,
    ) -> None:
        self._access = access
        self._frames = frames
        self._hooks = hooks
        self._interruption = interruption
        self._host = host
        self._no_prompts = no_prompts
        self._check = check
        self.denials: list[dict[str, Any]] = []
        """The calls that were denied, as results list them; whoever runs a turn puts a new list here."""
        self._open = 0
        """How many questions nobody has answered yet."""

    def denied_by_hook(self, call: ToolCall, tool_input: dict[str, Any], text: str) -> CallResult:
        """The result of a call that a hook refused."""
        self._note_denied(call, tool_input)
        return CallResult(
            text,
            structured=f"Error: {text}",
            is_error=True,
            not_run="permission-rule",
            decision={"decision": "reject", **_BY_HOOK},
        )

    def settled(self, question: Question, hook: PreToolOutcome) -> Approved | CallResult | None:
        """What rules, mode and hook make of the call; None when somebody has to be asked."""
        decision = question.decision
        if decision.behavior == "deny":
            return self.denied(question, told=hook.decision != "allow")
        if hook.decision == "ask":
            return None
        if hook.decision == "allow" and not insists(decision) and not self._planned(question):
            return Approved({"decision": "accept", **_BY_HOOK})
        if decision.behavior == "allow":
            return Approved(accepted(decision))
        return None

    def _planned(self, question: Question) -> bool:
        """Whether the call would change something while the work is only planned: no hook can allow that."""
        waits = self._access.mode == "plan" and question.decision.behavior == "ask"
        return waits and question.call.name in _CHANGES

    async def ask(self, question: Question, hook: PreToolOutcome) -> Approved | CallResult:
        """Ask whoever can be asked; without anybody the call is denied."""
        if question.decision.checked_by_model and hook.decision != "ask" and self._check is not None:
            checked = await self._checked(question, self._check)
            if checked is not None:
                return checked
        if self._host is None:
            reply = await self._ask_hooks(question)
            if reply is None:
                return self._unanswered(question, hook)
            if isinstance(reply, DenyReply):
                text = reply.message if isinstance(reply.message, str) else _FALLBACK_DENIAL
                about = {"decision_reason_type": "hook", "decision_reason": text}
                self._frames.permission_denied(question.call.name, question.call.id, text, **about)
            return await self._answered(question, reply, by_hook=True)
        self._frames.session_state("requires_action")
        try:
            with self._counted(), self._interruption.question() as scope:
                async with waiting_for_permission(self._hooks, question.call.name):
                    reply, by_hook = await self._first_answer(question, hook)
        except HostRefusedError as error:
            self._goes_on()
            failed = {"source": "config", "reason_type": "other"}
            return self._refused(question, f"Tool permission request failed: {error}", failed)
        except anyio.get_cancelled_exc_class():
            self._note_denied(question.call, question.tool_input)
            raise
        if scope.cancelled_caught:
            self._note_denied(question.call, question.tool_input)
            await self._interruption.about_to_stop()
            if self._interruption.hurried:
                self._goes_on()
                return given_up()
            return rejected_by_user()
        result = await self._answered(question, reply, by_hook=by_hook)
        self._goes_on()
        return result

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """As long as one question is open."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    def _goes_on(self) -> None:
        """A question is settled; once none is open the session is no longer waiting."""
        if not self._open:
            self._frames.session_state("running")

    async def _checked(self, question: Question, check: SafetyCheck) -> Approved | CallResult | None:
        """What the model that checks calls says; None when a person is to look at the call instead."""
        if check.gave_up and self._host is not None:
            return None
        with self._interruption.question() as scope:
            verdict = await check.judge(question.call.name, question.tool_input)
        if scope.cancelled_caught:
            self._note_denied(question.call, question.tool_input)
            await self._interruption.about_to_stop()
            return rejected_by_user()
        if verdict.block is False:
            return Approved({"decision": "accept", "source": "config", "reason_type": "classifier"})
        if verdict.block is None:
            reason, text = "Classifier unavailable", wording.auto_unavailable(question.call.name)
        else:
            reason, text = verdict.reason or "Blocked by classifier", wording.auto_blocked(verdict.reason)
        changed = question.decision.changed(reason_type="classifier", reason=reason, message=text)
        result = self.denied(msgspec.structs.replace(question, decision=changed))
        if verdict.block is None:
            result.not_run = "automode-unavailable"
        call = question.call
        if await call_denied(self._hooks, call.id, call.name, question.tool_input, reason):
            result.contexts.append(_TRY_AGAIN)
            result.remark = _TRY_AGAIN
        return result

    def refused_after_change(self, question: Question, *, by_user: bool) -> CallResult | None:
        """What rules have against a call as an answer has changed it; a hook is no person to be asked."""
        decision = question.decision
        # A person has just allowed it: a mode that asks nobody, which the answer may have set, has no say.
        if decision.behavior == "deny" and not (by_user and decision.reason_type == "mode"):
            return self.denied(question)
        if decision.behavior == "ask" and not by_user and insists(decision):
            return self._unanswered(question, PreToolOutcome())
        return None

    async def _first_answer(self, question: Question, hook: PreToolOutcome) -> tuple[PermissionReply, bool]:
        """The host's answer or a hook's, whichever comes first; the other question is withdrawn."""
        assert self._host is not None
        body = host_question(question, hook)
        if not self._hooks.has("PermissionRequest"):
            return await self._host.can_use_tool(body), False
        answers: list[tuple[PermissionReply, bool]] = []
        failures: list[HostRefusedError] = []

        async def from_host() -> None:
            assert self._host is not None
            try:
                answers.append((await self._host.can_use_tool(body), False))
            except HostRefusedError as error:
                failures.append(error)
            # A hook that is about to answer need not be told that it comes too late.
            group.cancel_scope.deadline = anyio.current_time() + _GRACE_SECONDS

        async def from_hook() -> None:
            reply = await self._ask_hooks(question)
            if reply is not None:
                answers.append((reply, True))
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(from_host)
            group.start_soon(from_hook)
        if answers:
            return answers[0]
        raise failures[0] if failures else HostRefusedError("Error: nobody answered")

    async def _ask_hooks(self, question: Question) -> PermissionReply | None:
        call = question.call
        return await self._hooks.permission_request(
            call.id, call.name, question.tool_input, question.decision
        )

    async def _answered(
        self, question: Question, reply: PermissionReply, *, by_hook: bool
    ) -> Approved | CallResult:
        if isinstance(reply, AllowReply):
            if isinstance(reply.updated_permissions, list):
                await self._access.apply(reply.updated_permissions)
            updated = reply.updated_input if isinstance(reply.updated_input, dict) else None
            if by_hook:
                return Approved({"decision": "accept", **_BY_HOOK}, updated)
            if self._check is not None:
                self._check.approved_by_person()
            return Approved({"decision": "accept", "source": "user_temporary"}, updated, by_user=True)
        return self._refusal(question, reply, _BY_HOOK if by_hook else {"source": "user_reject"})

    def _refusal(self, question: Question, reply: DenyReply, source: dict[str, str]) -> CallResult:
        text = reply.message if isinstance(reply.message, str) and reply.message else _FALLBACK_DENIAL
        if reply.interrupt is True:
            self._note_denied(question.call, question.tool_input)
            stopped = rejected_by_user()
            stopped.interrupts = True
            return stopped
        return self._refused(question, text, source)

    def _refused(self, question: Question, text: str, source: dict[str, str]) -> CallResult:
        self._note_denied(question.call, question.tool_input)
        return CallResult(
            text,
            structured=f"Error: {text}",
            is_error=True,
            not_run="permission-rule",
            decision={"decision": "reject", **source},
        )

    def denied(self, question: Question, *, told: bool = True) -> CallResult:
        """The result of a call that a rule, or the mode, refuses."""
        decision = question.decision
        self._note_denied(question.call, question.tool_input)
        rejected: dict[str, Any] = {"decision": "reject", "source": refuser(decision)}
        if decision.reason_type is not None:
            rejected["reason_type"] = decision.reason_type
        if decision.as_tool_error:
            return CallResult(
                f"<tool_use_error>{decision.message}</tool_use_error>",
                structured=f"Error: {decision.message}",
                is_error=True,
                decision=rejected,
            )
        return CallResult(
            decision.message,
            structured=f"Error: {decision.message}",
            is_error=True,
            not_run="permission-rule",
            decision=rejected,
            ahead=partial(self._tell_denied, question) if told else None,
        )

    def _unanswered(self, question: Question, hook: PreToolOutcome) -> CallResult:
        """Nobody can be asked."""
        decision = question.decision
        if self._no_prompts:
            return self._refused_by_order(question)
        by_hook = hook.reason if hook.decision == "ask" else None
        text = by_hook or decision.message or f"Permission to use {question.call.name} was not given."
        self._note_denied(question.call, question.tool_input)
        self._tell_denied(question, text, hook)
        return CallResult(
            text,
            structured=f"Error: {text}",
            is_error=True,
            not_run="user-rejected",
            decision={"decision": "reject", "source": "config"},
        )

    def _refused_by_order(self, question: Question) -> CallResult:
        """The session was started without anybody who answers."""
        needed = question.decision.message or f"{question.call.name} has to be approved."
        changed = question.decision.changed(
            reason_type="asyncAgent",
            reason=_NO_SURFACE,
            message=f"Permission for this tool use was denied. {_NO_SURFACE_FOR_MODEL}{needed}",
            as_tool_error=False,
        )
        return self.denied(msgspec.structs.replace(question, decision=changed))

    def _note_denied(self, call: ToolCall, tool_input: dict[str, Any]) -> None:
        """List a denial, with every path absolute."""
        self.denials.append({"tool_name": call.name, "tool_use_id": call.id, "tool_input": tool_input})

    def _tell_denied(
        self, question: Question, text: str | None = None, hook: PreToolOutcome | None = None
    ) -> None:
        decision = question.decision
        reason_type: str | None = decision.reason_type
        reason = decision.reason
        if hook is not None and hook.decision == "ask":
            reason_type, reason = "hook", hook.reason
        self._frames.permission_denied(
            question.call.name,
            question.call.id,
            decision.message if text is None else text,
            decision_reason_type=reason_type or UNSET,
            decision_reason=reason or UNSET,
        )
