"""The events that hooks are told of: their inputs, and what the user is told about the answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
from msgspec import UNSET, UnsetType

from claude_wrapper.agent.hooks.hook import HostHook
from claude_wrapper.agent.hooks.late import LateAnswers
from claude_wrapper.agent.hooks.outcome import (
    Outcome,
    PreToolOutcome,
    outcome_of,
    permission_request_outcome,
    pre_tool_outcome,
)
from claude_wrapper.agent.hooks.overlong import shortened
from claude_wrapper.agent.hooks.reply import HookReply, Occasion
from claude_wrapper.agent.hooks.run import HookRunner
from claude_wrapper.agent.ids import new_uuid
from claude_wrapper.agent.permissions.call import Decision
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.wire.hook_base import HookEffortBody
from claude_wrapper.wire.hook_call_inputs import (
    PermissionRequestInput,
    PostToolBatchInput,
    PostToolUseFailureInput,
    PostToolUseInput,
    PreToolUseInput,
    ToolCallBody,
)
from claude_wrapper.wire.hook_session_inputs import SessionEndInput, SessionStartInput, SetupInput
from claude_wrapper.wire.hook_turn_inputs import (
    BackgroundTaskSummaryBody,
    MessageDisplayInput,
    StopFailureInput,
    StopInput,
    UserPromptSubmitInput,
)
from claude_wrapper.wire.permissions import PermissionReply

__all__ = ["FINISHED", "HookEvents", "HookFields", "ToolEvent"]

FINISHED = Outcome()
"""What an event without hooks comes to."""
_READ_BY_MODEL = frozenset({"UserPromptSubmit", "UserPromptExpansion", "SessionStart", "PreCompact"})
"""Here what a command prints is for the model, even if it is no JSON."""
_END_SECONDS = 1.5
_MOST_END_SECONDS = 60.0
_NO_VERDICT = {
    "timeout": "A hook was too slow to say anything about this call, which goes on without its check.",
    "unusable": "A hook could not be asked about this call, which goes on without its check.",
}


class ToolEvent:
    """The call that tool events are about."""

    __slots__ = ("id", "input", "mcp_server", "name")

    def __init__(
        self, call_id: str, name: str, tool_input: dict[str, Any], mcp_server: dict[str, Any] | None
    ) -> None:
        self.id = call_id
        self.name = name
        self.input = tool_input
        self.mcp_server: dict[str, Any] | UnsetType = UNSET if mcp_server is None else mcp_server


class HookFields:
    """What events tell beside what they are about."""

    def __init__(self, common: Callable[[], dict[str, Any]], effort: Callable[[], str | None]) -> None:
        self._common = common
        self._effort = effort

    def bare(self) -> dict[str, Any]:
        """What events tell that stand outside of a turn."""
        return {**self._common(), "permission_mode": UNSET}

    def in_turn(self) -> dict[str, Any]:
        """What events of a turn tell."""
        return self._common()

    def at_work(self) -> dict[str, Any]:
        """What events about the model's work tell."""
        level = self._effort()
        return {**self._common(), "effort": UNSET if level is None else HookEffortBody(level=level)}


class HookEvents:
    """Tells hooks of events. `results_dir` takes what they say at too great a length."""

    def __init__(
        self,
        runner: HookRunner,
        frames: Frames,
        fields: HookFields,
        late: LateAnswers,
        results_dir: Path,
        problems: Sequence[str] = (),
        doubts: Sequence[str] = (),
    ) -> None:
        self._runner = runner
        self._frames = frames
        self._results_dir = results_dir
        self._first: list[str] = []
        self._told_of_all = anyio.Event()
        self._told_of_all.set()
        self._problems = list(problems)
        self._doubts = list(doubts)
        self.fields = fields
        self.late = late
        self.watch_paths: list[str] = []
        """The files that hooks want to hear about, beside those that matchers name."""
        self.tasks: Callable[[], list[BackgroundTaskSummaryBody]] = list
        """What works in the background."""

    @property
    def runner(self) -> HookRunner:
        """Asks the hooks."""
        return self._runner

    def has(self, event: str, *, of_host: bool = True) -> bool:
        """Whether any hook may be concerned by the event; with or without those of the host."""
        return self._runner.registry.has(event, of_host=of_host)

    def matchers(self, event: str) -> list[str]:
        """What the hooks of an event are to be matched with."""
        return self._runner.registry.matchers(event)

    def tell_problems(self) -> None:
        """Tell the host, once, what of the settings and flags has no effect."""
        doubts, self._doubts = self._doubts, []
        for doubt in doubts:
            self._frames.informational(doubt, "warning")
        problems, self._problems = self._problems, []
        if problems:
            self._frames.informational("\n".join(problems), "warning", tag="settings_not_in_effect")

    def expect(self) -> Callable[[], None]:
        """Hooks are about to be asked what the model is to know first; to be called when they have been."""
        told = self._told_of_all = anyio.Event()
        return told.set

    async def all_known(self) -> None:
        """Wait for what hooks that are being asked want the model to know."""
        await self._told_of_all.wait()

    def take_first(self) -> list[str]:
        """What hooks of the session's start want the model to know before its first prompt."""
        texts, self._first = self._first, []
        return texts

    def take_late(self) -> list[str]:
        """What hooks that nobody waited for have said since the last time."""
        return [shortened(text, self._results_dir) for text in self.late.take()]

    async def occur(
        self,
        event: Any,
        subject: str | None = None,
        *,
        told: bool = True,
        of_host: bool = True,
        first: bool = False,
        tool_input: dict[str, Any] | None = None,
    ) -> Outcome:
        """An event of any kind, given its input; `subject` is what matchers are compared with.

        With `first`, what hooks have for the model reaches it ahead of the next prompt.
        """
        name = event.__struct_config__.tag
        if not self.has(name, of_host=of_host):
            return FINISHED
        occasion = Occasion(name, subject, event, new_uuid(), tool_input)
        outcome = self._outcome(name, await self._runner.run(occasion, of_host=of_host))
        if told:
            self.tell(name, name, outcome)
        if first:
            self._first += outcome.contexts
        if outcome.watch_paths is not None:
            self.watch_paths = outcome.watch_paths
        return outcome

    async def decide(self, event: Any, subject: str) -> PreToolOutcome:
        """An event that hooks may let pass or not."""
        name = event.__struct_config__.tag
        outcome = pre_tool_outcome(await self._runner.run(Occasion(name, subject, event, new_uuid())))
        self.tell(name, name, outcome)
        return outcome

    async def session_start(self, source: str) -> Outcome:
        """The session begins."""
        event = SessionStartInput(**self.fields.bare(), source=source)
        return await self.occur(event, source, of_host=False, first=True)

    async def setup(self, trigger: str) -> None:
        """The agent was started to set a project up, or to look after it."""
        event = SetupInput(**self.fields.bare(), trigger=trigger)
        await self.occur(event, trigger, of_host=False, first=True)

    async def prompt(self, prompt: str) -> Outcome:
        """A prompt came in; the outcome is to be told once the prompt is taken up."""
        if not self.has("UserPromptSubmit"):
            return FINISHED
        return await self.occur(UserPromptSubmitInput(**self.fields.in_turn(), prompt=prompt), told=False)

    async def before_tool(self, tool: ToolEvent) -> PreToolOutcome:
        """A tool is about to run."""
        if not self.has("PreToolUse"):
            return PreToolOutcome()
        event = PreToolUseInput(
            **self.fields.at_work(),
            tool_name=tool.name,
            tool_input=tool.input,
            tool_use_id=tool.id,
            mcp_server=tool.mcp_server,
        )
        outcome = pre_tool_outcome(await self._about(tool, event))
        self._shorten(outcome)
        self.tell(f"PreToolUse:{tool.name}", "PreToolUse", outcome)
        if outcome.no_verdict is not None:
            self._tell_no_verdict(tool, outcome.no_verdict)
        return outcome

    async def after_tool(self, tool: ToolEvent, response: Any, duration_ms: int) -> Outcome:
        """A tool has run; the outcome is to be told once the result is shown."""
        if not self.has("PostToolUse"):
            return FINISHED
        event = PostToolUseInput(
            **self.fields.at_work(),
            tool_name=tool.name,
            tool_input=tool.input,
            tool_response=response,
            tool_use_id=tool.id,
            duration_ms=duration_ms,
            mcp_server=tool.mcp_server,
        )
        return self._outcome("PostToolUse", await self._about(tool, event))

    async def tool_failed(self, tool: ToolEvent, error: str, duration_ms: int) -> Outcome:
        """A tool has failed; the outcome is to be told once the result is shown."""
        if not self.has("PostToolUseFailure"):
            return FINISHED
        event = PostToolUseFailureInput(
            **self.fields.at_work(),
            tool_name=tool.name,
            tool_input=tool.input,
            tool_use_id=tool.id,
            error=error,
            is_interrupt=False,
            duration_ms=duration_ms,
            mcp_server=tool.mcp_server,
        )
        return self._outcome("PostToolUseFailure", await self._about(tool, event))

    async def after_batch(self, calls: Sequence[ToolCallBody]) -> Outcome:
        """All tools of a reply have run."""
        if not self.has("PostToolBatch"):
            return FINISHED
        event = PostToolBatchInput(**self.fields.at_work(), tool_calls=list(calls))
        return await self._plain(event, f"hook-{new_uuid()}")

    async def permission_request(
        self, call_id: str, tool_name: str, tool_input: dict[str, Any], decision: Decision
    ) -> PermissionReply | None:
        """Somebody is asked, or would be; a hook may answer instead."""
        if not self.has("PermissionRequest"):
            return None
        event = PermissionRequestInput(
            **self.fields.at_work(),
            tool_name=tool_name,
            tool_input=tool_input,
            permission_suggestions=UNSET if decision.suggestions is None else list(decision.suggestions),
        )
        occasion = Occasion("PermissionRequest", tool_name, event, call_id, tool_input)
        replies = await self._runner.run(occasion)
        self.tell(
            f"PermissionRequest:{tool_name}", "PermissionRequest", self._outcome("PermissionRequest", replies)
        )
        return permission_request_outcome(replies)

    async def stop(self, last_text: str, *, again: bool) -> Outcome:
        """The model is done; the outcome is to be told once its consequence is shown."""
        if not self.has("Stop"):
            return FINISHED
        event = StopInput(
            **self.fields.at_work(),
            stop_hook_active=again,
            last_assistant_message=last_text or UNSET,
            background_tasks=self.tasks(),
            session_crons=[],
        )
        return await self.occur(event, told=False)

    async def stop_failure(self, error: str, text: str, details: str | None) -> None:
        """The turn ends on an error of the API; what hooks say about that counts for nothing."""
        if self.has("StopFailure"):
            event = StopFailureInput(
                **self.fields.bare(),
                error=error,
                error_details=details or UNSET,
                last_assistant_message=text,
            )
            await self.occur(event, error, told=False)

    async def message_shown(self, turn_id: str, text: str) -> None:
        """A text of the model is about to be shown."""
        if self.has("MessageDisplay"):
            message_id = new_uuid()
            event = MessageDisplayInput(
                **self.fields.bare(),
                turn_id=turn_id,
                message_id=message_id,
                index=0,
                final=True,
                delta=text,
            )
            await self._runner.run(Occasion("MessageDisplay", None, event, f"{message_id}-0"))

    def end_seconds(self, environ: Mapping[str, str]) -> float:
        """How long all hooks of the session's end may take together."""
        text = environ.get("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "")
        if text.isascii() and text.isdigit() and int(text) > 0:
            return int(text) / 1000
        hooks = self._runner.registry.concerned("SessionEnd", None)
        return min(max((hook.seconds for hook in hooks), default=_END_SECONDS), _MOST_END_SECONDS)

    async def session_end(self, reason: str, *, of_host: bool) -> None:
        """The session ends; `of_host`: the host can still be asked."""
        event = SessionEndInput(**self.fields.bare(), reason=reason)
        await self.occur(event, reason, told=False, of_host=of_host)

    async def _about(self, tool: ToolEvent, event: Any) -> list[HookReply]:
        name = event.__struct_config__.tag
        return await self._runner.run(Occasion(name, tool.name, event, tool.id, tool.input))

    async def _plain(self, event: Any, event_id: str) -> Outcome:
        name = event.__struct_config__.tag
        outcome = self._outcome(name, await self._runner.run(Occasion(name, None, event, event_id)))
        self.tell(name, name, outcome)
        return outcome

    def _outcome(self, event: str, replies: Sequence[HookReply]) -> Outcome:
        outcome = outcome_of(replies)
        if event in _READ_BY_MODEL:
            outcome.contexts += [reply.text for reply in replies if reply.text]
        self._shorten(outcome)
        return outcome

    def _shorten(self, outcome: Outcome) -> None:
        outcome.contexts = [shortened(text, self._results_dir) for text in outcome.contexts]
        outcome.messages = [shortened(text, self._results_dir) for text in outcome.messages]

    def _tell_no_verdict(self, tool: ToolEvent, why: str) -> None:
        about = {"hook_event": "PreToolUse", "tool_use_id": tool.id, "timed_out": why == "timeout"}
        self._frames.informational(_NO_VERDICT[why], "warning", tag="hook_no_verdict", hook_no_verdict=about)

    def tell(self, label: str, event: str, outcome: Outcome) -> None:
        """Tell the user which hooks failed, and what the others have to say."""
        self.tell_failures(event, outcome)
        self.tell_messages(label, outcome)

    def tell_failures(self, event: str, outcome: Outcome) -> None:
        """Tell the user which hooks failed."""
        for reply in outcome.failed:
            hook = reply.hook
            if not isinstance(hook, HostHook):
                continue
            what = "which counts as a block" if hook.blocks_on_failure else "which counts as no opinion"
            self._frames.informational(
                f"{event}: the hook callback {hook.callback_id} failed or gave an answer that cannot be read, {what}.",
                "warning",
                tag="hook_callback_failed",
            )
            sys.stderr.write(f"The hook callback {hook.callback_id} failed.\n")

    def tell_messages(self, label: str, outcome: Outcome) -> None:
        """Tell the user what hooks have to say."""
        for message in outcome.messages:
            self._frames.informational(f"{label} says: {message}", "notice")
