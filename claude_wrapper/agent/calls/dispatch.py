"""One tool call from the model's wish to its result: the one way that every call goes."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET

from claude_wrapper.agent.config.access import Access
from claude_wrapper.agent.hooking.events import HookEvents, ToolEvent
from claude_wrapper.agent.hooking.notices import cwd_changed
from claude_wrapper.agent.hooks.outcome import Outcome, PreToolOutcome
from claude_wrapper.agent.permissions.call import Call, Decision
from claude_wrapper.agent.tools.contract import (
    Answerable,
    InputRejected,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
)
from claude_wrapper.agent.tools.registry import BUILTIN_NAMES, answered_input, validate_input
from claude_wrapper.wire.codec import encode

from .approval import Approval
from .call import (
    DENIED,
    HANDED_IN,
    NEVER_TRIED,
    UNFIT,
    CallResult,
    ToolCall,
    current_call,
    nobody_there,
    tool_error,
)
from .question import Approved, Question
from .structured import STRUCTURED_OUTPUT
from .toolbox import Toolbox

__all__ = ["Dispatcher"]

logger = logging.getLogger("claude_wrapper.agent")

_UNUSABLE = "gave an updatedInput that the tool cannot take"


class _BadHookInputError(Exception):
    """A hook changed a call's input into one that the tool refuses."""


class _DeniedPathError(InputRejected):
    """A rule refuses the path as it is written, whatever lies there."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.decision.message)
        self.question = question


class _Prepared(msgspec.Struct):
    """A call that may be decided on."""

    call: ToolCall
    tool: Tool
    tool_input: dict[str, Any]
    absolute: dict[str, Any]
    """The same with every path absolute, as rules, hooks and hosts see it."""


class Dispatcher:
    """Runs calls: validate, check, hooks, permission, run, hooks."""

    def __init__(
        self,
        toolbox: Toolbox,
        context: ToolContext,
        access: Access,
        hooks: HookEvents,
        approval: Approval,
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._toolbox = toolbox
        self._context = context
        self._access = access
        self._hooks = hooks
        self._approval = approval
        self._refresh = refresh

    def shown_input(self, name: str, tool_input: dict[str, Any]) -> dict[str, Any]:
        """The input as the conversation shows it: as the model wrote it, with defaults it left out."""
        tool = self._toolbox.find(name)
        if tool is None:
            return tool_input
        try:
            return tool.prepare(self._validated(tool, tool_input), self._context)
        except InputRejected:
            return tool_input

    def is_read_only(self, call: ToolCall) -> bool:
        """Whether a call may run beside others. Of one whose input does not fit nobody can tell."""
        tool = self._toolbox.find(call.name)
        if tool is None or call.unparsed is not None:
            return False
        try:
            return tool.is_read_only(self._validated(tool, call.input))
        except InputRejected:
            return False

    def is_unknown(self, call: ToolCall) -> bool:
        """Whether there is no such tool, so that the call is over as soon as it is made."""
        tool = self._toolbox.find(call.name)
        return tool is None or self._toolbox.is_off(tool.name)

    async def dispatch(self, call: ToolCall, may_run: Callable[[], Awaitable[None]]) -> CallResult:
        """Carry out one call, running it only once `may_run` returns. Whatever goes wrong is a result."""
        try:
            tool, valid = self._fitting(call, call.input)
        except InputRejected as rejection:
            later = NEVER_TRIED if self.is_unknown(call) else UNFIT
            return tool_error(rejection.text, rejection.structured, after_events=later)
        try:
            await self._refresh()
            prepared = await self._prepare(call, tool, valid)
            hook = await self._hooks.before_tool(self._event(prepared))
            refused = self._refused_by_hook(prepared, hook)
            if refused is not None:
                refused.hook_stopped = hook.stop
                return refused
            if hook.updated_input is not None:
                prepared = await self._changed_by_hook(call, hook.updated_input)
            # The calls before this one may have changed the rules.
            await self._refresh()
            settled = await self._settled(prepared, hook)
            if not isinstance(settled, CallResult) and call.name != STRUCTURED_OUTPUT:
                await may_run()
            result = await self._run_approved(prepared, settled)
        except _DeniedPathError as denied:
            return self._approval.denied(denied.question)
        except InputRejected as rejection:
            return tool_error(rejection.text, rejection.structured)
        except _BadHookInputError as error:
            return self._approval.denied_by_hook(call, prepared.absolute, str(error))
        result.contexts[:0] = hook.contexts
        result.hook_stopped = result.hook_stopped or hook.stop
        return result

    def _fitting(self, call: ToolCall, tool_input: dict[str, Any]) -> tuple[Tool, dict[str, Any]]:
        """The tool that is called and its input, if it is one that the tool can take."""
        tool = self._toolbox.find(call.name)
        if tool is None or self._toolbox.is_off(tool.name):
            text = f"Error: No such tool available: {call.name}"
            meant = self._toolbox.spelt_otherwise(call.name)
            if meant is not None:
                text += f". Upper and lower case count in names: use {meant}."
            if call.name in BUILTIN_NAMES:
                text += f". {call.name} is switched off in this session and in its subagents."
            raise InputRejected(text, text)
        if call.unparsed is not None:
            raise InputRejected(
                f"InputValidationError: {call.name} failed: its input is no JSON object: {call.unparsed[:200]}",
                f"InputValidationError: no JSON object ({len(call.unparsed.encode())} bytes)",
            )
        return tool, tool.prepare(self._validated(tool, tool_input), self._context)

    async def _prepare(self, call: ToolCall, tool: Tool, valid: dict[str, Any]) -> _Prepared:
        """The call, checked; one that is denied anyway is not, for that would tell what is in the file's place."""
        from claude_wrapper.agent.permissions.decide import denied_path  # noqa: PLC0415  # see _question

        prepared = _Prepared(call, tool, valid, tool.for_permission(valid, self._context))
        denied = denied_path(self._subject(prepared), self._access.policy)
        if denied is None:
            await self._check(tool, valid)
        elif denied.as_tool_error:
            raise _DeniedPathError(self._asked(prepared, denied))
        return prepared

    async def _check(self, tool: Tool, valid: dict[str, Any]) -> None:
        try:
            await tool.check(valid, self._context)
        except InputRejected:
            raise
        except Exception as error:  # a fault of the tool must not end the session
            logger.exception("the tool %s failed to check its input", tool.name)
            raise InputRejected(f"{type(error).__name__}: {error}") from error

    def _validated(self, tool: Tool, tool_input: dict[str, Any]) -> dict[str, Any]:
        """The input, checked here for the agent's own tools; others check theirs themselves."""
        return validate_input(tool, tool_input) if self._toolbox.is_built_in(tool.name) else tool_input

    def _refused_by_hook(self, prepared: _Prepared, hook: PreToolOutcome) -> CallResult | None:
        call = prepared.call
        label = f"PreToolUse:{call.name} hook error: "
        if hook.decision == "deny":
            text = label + (hook.reason or "the hook denied this call")
            if hook.timed_out:
                return CallResult(text, structured=f"Error: {text}", is_error=True)
            return self._approval.denied_by_hook(call, prepared.absolute, text)
        if hook.gone:
            return nobody_there()
        if hook.timed_out or hook.misplaced:
            what = "gave no answer in time" if hook.timed_out else "answered as if to another event"
            text = f"The PreToolUse hook {what}, so this call was not carried out."
            return CallResult(text, structured=f"Error: {text}", is_error=True)
        blocking = next((reply.hook for reply in hook.failed if reply.hook.blocks_on_failure), None)
        if blocking is not None:
            text = f"{label}[callback]: {blocking.label} failed, and its failure is set to block the call"
            return self._approval.denied_by_hook(call, prepared.absolute, text)
        if hook.decision == "defer":
            return CallResult("", deferred=True)
        return None

    async def _changed_by_hook(self, call: ToolCall, tool_input: dict[str, Any]) -> _Prepared:
        try:
            return await self._prepare(call, *self._fitting(call, tool_input))
        except InputRejected as rejection:
            raise _BadHookInputError(
                f"PreToolUse hook for {call.name} {_UNUSABLE}: {rejection.text}"
            ) from rejection

    async def _settled(self, prepared: _Prepared, hook: PreToolOutcome) -> Approved | CallResult:
        question = self._question(prepared)
        settled = self._approval.settled(question, hook)
        if settled is None:
            # Calls that run side by side are asked about side by side: one slow answer holds up one call.
            return await self._approval.ask(question, hook)
        if isinstance(settled, CallResult):
            settled.after_events = DENIED
        return settled

    def _question(self, prepared: _Prepared) -> Question:
        # Reading shell commands takes a good part of the code; a run that calls no tool does without.
        from claude_wrapper.agent.permissions.decide import decide  # noqa: PLC0415

        return self._asked(prepared, decide(self._subject(prepared), self._access.policy))

    def _subject(self, prepared: _Prepared) -> Call:
        cwd, name = self._context.cwd, prepared.tool.name
        return Call(
            tool_name=name,
            tool_input=prepared.absolute,
            cwd=cwd,
            working_dirs=tuple(self._access.directories(cwd)),
            requires_interaction=self._toolbox.requires_interaction(name),
        )

    def _asked(self, prepared: _Prepared, decision: Decision) -> Question:
        name = prepared.tool.name
        return Question(
            call=prepared.call,
            tool_input=prepared.absolute,
            decision=decision,
            display_name=self._toolbox.display_name(name),
            mcp_server=self._toolbox.mcp_server(name),
        )

    async def _run_approved(self, prepared: _Prepared, settled: Approved | CallResult) -> CallResult:
        if isinstance(settled, CallResult):
            return settled
        modified = False
        if settled.updated_input:
            changed = await self._changed_by_answer(prepared, settled, settled.updated_input)
            if isinstance(changed, CallResult):
                return changed
            prepared, modified = changed
        result = await self._run(prepared, modified=modified and settled.by_user)
        result.decision = settled.decision
        return result

    async def _changed_by_answer(
        self, asked: _Prepared, settled: Approved, answer: dict[str, Any]
    ) -> tuple[_Prepared, bool] | CallResult:
        """The call as whoever allowed it wants it, and whether it now writes something else."""
        if isinstance(asked.tool, Answerable):
            return _completed(asked, asked.tool, answer)
        try:
            tool_input, modified = self._answered(asked, answer)
        except InputRejected as rejection:
            if not settled.by_user:
                raise _BadHookInputError(
                    f"PermissionRequest hook for {asked.call.name} {_UNUSABLE}: {rejection.text}"
                ) from rejection
            return tool_error(f"The host allowed {asked.call.name}, but {_UNUSABLE}: {rejection.text}")
        if tool_input == asked.tool_input:
            return asked, False
        try:
            prepared = await self._prepare(asked.call, *self._fitting(asked.call, tool_input))
        except InputRejected as rejection:
            # The model asked for something else: this is no fault of its input.
            return CallResult(rejection.text, structured=rejection.structured, is_error=True)
        refused = self._approval.refused_after_change(self._question(prepared), by_user=settled.by_user)
        return (prepared, modified) if refused is None else refused

    def _answered(self, asked: _Prepared, answer: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        if self._toolbox.is_built_in(asked.tool.name):
            return answered_input(asked.tool, asked.tool_input, asked.absolute, answer)
        return answer, False

    async def _run(self, prepared: _Prepared, *, modified: bool) -> CallResult:
        event, cwd = self._event(prepared), self._context.cwd
        started = time.monotonic()
        self._context.user_modified = modified
        current_call.set(prepared.call.id)
        try:
            output = await prepared.tool.run(prepared.tool_input, self._context)
        except ToolFailure as failure:
            result = await self._failed(event, failure.text, failure.structured, started)
            if failure.interrupted:
                result.not_run = "interrupted"
            return result
        except InputRejected as rejection:
            return tool_error(rejection.text, rejection.structured)
        except Exception as error:  # a fault of the tool must not end the session
            logger.exception("the tool %s failed", prepared.tool.name)
            text = f"{type(error).__name__}: {error}"
            return await self._failed(event, text, f"Error: {text}", started)
        finally:
            self._context.user_modified = False
        result = await self._finished(event, output, started)
        await cwd_changed(self._hooks, cwd, self._context.cwd)
        return result

    async def _failed(self, event: ToolEvent, text: str, structured: Any, started: float) -> CallResult:
        outcome = await self._hooks.tool_failed(event, text, _milliseconds(started))
        result = CallResult(text, structured=structured, is_error=True)
        if event.name == STRUCTURED_OUTPUT:
            result.after_events = HANDED_IN
        self._heed(result, event, "PostToolUseFailure", outcome)
        return result

    async def _finished(self, event: ToolEvent, output: ToolOutput, started: float) -> CallResult:
        outcome = await self._hooks.after_tool(event, output.structured, _milliseconds(started))
        content, structured = output.content, output.structured
        if outcome.replaced is not UNSET and _fits(outcome.replaced, structured):
            structured = outcome.replaced
            content = _content_of(structured)
        result = CallResult(content, structured=structured, is_error=output.is_error)
        result.final = self._toolbox.final_value(event.name, event.input)
        if event.name == STRUCTURED_OUTPUT:
            result.after_events = HANDED_IN
        self._heed(result, event, "PostToolUse", outcome)
        return result

    def _heed(self, result: CallResult, event: ToolEvent, name: str, outcome: Outcome) -> None:
        """Take over what hooks say after the call."""
        result.contexts += outcome.contexts
        if outcome.block is not None:
            result.contexts.append(f"A hook objects to this result: {outcome.block or 'it gave no reason'}")
        result.hook_stopped = outcome.stop
        self._hooks.tell_failures(name, outcome)
        result.afterwards = partial(self._hooks.tell_messages, f"{name}:{event.name}", outcome)

    def _event(self, prepared: _Prepared) -> ToolEvent:
        name = prepared.tool.name
        return ToolEvent(prepared.call.id, name, prepared.absolute, self._toolbox.mcp_server(name))


def _completed(
    asked: _Prepared, tool: Answerable, answer: dict[str, Any]
) -> tuple[_Prepared, bool] | CallResult:
    """A call that the answer of whoever allowed it belongs to."""
    try:
        completed = tool.with_answer(asked.tool_input, answer)
    except InputRejected as rejection:
        refused = tool_error(f"The host allowed {asked.call.name}, but {_UNUSABLE}: {rejection.text}")
        refused.decision = {"decision": "reject", "source": "permission_updated_input_invalid"}
        return refused
    return msgspec.structs.replace(asked, tool_input=completed, absolute=completed), False


def _milliseconds(started: float) -> int:
    return int((time.monotonic() - started) * 1000)


def _fits(value: Any, structured: Any) -> bool:
    """Whether a replaced output has the shape of the tool's own."""
    if isinstance(structured, dict):
        return isinstance(value, dict) and structured.keys() <= value.keys()
    return isinstance(value, str | list)


def _content_of(structured: Any) -> str | list[dict[str, Any]]:
    """What the model reads of an output that a hook put in the place of the tool's."""
    if isinstance(structured, str | list):
        return structured
    if isinstance(structured, dict) and isinstance(structured.get("stdout"), str):
        errors = structured.get("stderr")
        return "\n".join(part for part in (structured["stdout"], errors) if isinstance(part, str) and part)
    return encode(structured).decode()
