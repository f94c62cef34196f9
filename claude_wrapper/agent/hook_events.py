"""The events that hooks are told of: their inputs, and what the user is told about the answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from claude_wrapper.wire.hook_call_inputs import (
    PermissionRequestInput,
    PostToolBatchInput,
    PostToolUseFailureInput,
    PostToolUseInput,
    PreToolUseInput,
    ToolCallBody,
)
from claude_wrapper.wire.hook_session_inputs import SessionEndInput
from claude_wrapper.wire.hook_turn_inputs import (
    MessageDisplayInput,
    StopFailureInput,
    StopInput,
    UserPromptSubmitInput,
)
from claude_wrapper.wire.permissions import PermissionReply

from .frames import Frames
from .hooks.outcome import Outcome, PreToolOutcome, outcome_of, permission_request_outcome, pre_tool_outcome
from .hooks.run import HookReply, HookRunner
from .ids import new_uuid
from .permissions.call import Decision

__all__ = ["FINISHED", "HookEvents", "ToolEvent"]

FINISHED = Outcome()
"""What an event without hooks comes to."""


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


class HookEvents:
    """Tells hooks of events. `common` gives the fields that every event has."""

    def __init__(self, runner: HookRunner, frames: Frames, common: Callable[[], dict[str, Any]]) -> None:
        self._runner = runner
        self._frames = frames
        self._common = common

    def has(self, event: str) -> bool:
        """Whether any hook may be concerned by the event."""
        return self._runner.has(event)

    async def prompt(self, prompt: str) -> Outcome:
        """A prompt came in."""
        if not self.has("UserPromptSubmit"):
            return FINISHED
        event = UserPromptSubmitInput(**self._common(), prompt=prompt)
        return self._told("UserPromptSubmit", await self._run("UserPromptSubmit", None, event))

    async def before_tool(self, tool: ToolEvent) -> PreToolOutcome:
        """A tool is about to run."""
        if not self.has("PreToolUse"):
            return PreToolOutcome()
        event = PreToolUseInput(
            **self._common(),
            tool_name=tool.name,
            tool_input=tool.input,
            tool_use_id=tool.id,
            mcp_server=tool.mcp_server,
        )
        replies = await self._runner.run("PreToolUse", tool.name, event, tool.id)
        outcome = pre_tool_outcome(replies)
        self.tell(f"PreToolUse:{tool.name}", "PreToolUse", outcome)
        return outcome

    async def after_tool(self, tool: ToolEvent, response: Any, duration_ms: int) -> Outcome:
        """A tool has run; the outcome is to be told once the result is shown."""
        if not self.has("PostToolUse"):
            return FINISHED
        event = PostToolUseInput(
            **self._common(),
            tool_name=tool.name,
            tool_input=tool.input,
            tool_response=response,
            tool_use_id=tool.id,
            duration_ms=duration_ms,
            mcp_server=tool.mcp_server,
        )
        return outcome_of(await self._runner.run("PostToolUse", tool.name, event, tool.id))

    async def tool_failed(self, tool: ToolEvent, error: str, duration_ms: int) -> Outcome:
        """A tool has failed; the outcome is to be told once the result is shown."""
        if not self.has("PostToolUseFailure"):
            return FINISHED
        event = PostToolUseFailureInput(
            **self._common(),
            tool_name=tool.name,
            tool_input=tool.input,
            tool_use_id=tool.id,
            error=error,
            is_interrupt=False,
            duration_ms=duration_ms,
            mcp_server=tool.mcp_server,
        )
        return outcome_of(await self._runner.run("PostToolUseFailure", tool.name, event, tool.id))

    async def after_batch(self, calls: Sequence[ToolCallBody]) -> Outcome:
        """All tools of a reply have run."""
        if not self.has("PostToolBatch"):
            return FINISHED
        event = PostToolBatchInput(**self._common(), tool_calls=list(calls))
        replies = await self._runner.run("PostToolBatch", None, event, f"hook-{new_uuid()}")
        return self._told("PostToolBatch", replies)

    async def permission_request(
        self, call_id: str, tool_name: str, tool_input: dict[str, Any], decision: Decision
    ) -> PermissionReply | None:
        """Somebody is asked, or would be; a hook may answer instead."""
        if not self.has("PermissionRequest"):
            return None
        event = PermissionRequestInput(
            **self._common(),
            tool_name=tool_name,
            tool_input=tool_input,
            permission_suggestions=UNSET if decision.suggestions is None else list(decision.suggestions),
        )
        replies = await self._runner.run("PermissionRequest", tool_name, event, call_id)
        self.tell(f"PermissionRequest:{tool_name}", "PermissionRequest", outcome_of(replies))
        return permission_request_outcome(replies)

    async def stop(self, last_text: str, *, again: bool) -> Outcome:
        """The model is done."""
        if not self.has("Stop"):
            return FINISHED
        event = StopInput(
            **self._common(),
            stop_hook_active=again,
            last_assistant_message=last_text,
            background_tasks=[],
            session_crons=[],
        )
        return self._told("Stop", await self._run("Stop", None, event))

    async def stop_failure(self, error: str, text: str) -> None:
        """The turn ends on an error of the API; what hooks say about that counts for nothing."""
        if self.has("StopFailure"):
            event = StopFailureInput(
                **self._common(), error=error, error_details=text, last_assistant_message=text
            )
            await self._run("StopFailure", error, event)

    async def message_shown(self, turn_id: str, text: str) -> None:
        """A text of the model is about to be shown."""
        if self.has("MessageDisplay"):
            message_id = new_uuid()
            event = MessageDisplayInput(
                **{**self._common(), "permission_mode": UNSET},
                turn_id=turn_id,
                message_id=message_id,
                index=0,
                final=True,
                delta=text,
            )
            await self._runner.run("MessageDisplay", None, event, f"{message_id}-0")

    async def session_end(self, reason: str) -> None:
        """The session ends."""
        if self.has("SessionEnd"):
            event = SessionEndInput(**{**self._common(), "permission_mode": UNSET}, reason=reason)
            await self._run("SessionEnd", reason, event)

    async def _run(self, name: str, subject: str | None, event: Any) -> list[HookReply]:
        return await self._runner.run(name, subject, event, new_uuid())

    def _told(self, event: str, replies: Sequence[HookReply]) -> Outcome:
        outcome = outcome_of(replies)
        self.tell(event, event, outcome)
        return outcome

    def tell(self, label: str, event: str, outcome: Outcome) -> None:
        """Tell the user what hooks have to say, and which of them failed."""
        for reply in outcome.failed:
            hook = reply.hook
            what = "which counts as a block" if hook.blocks_on_failure else "which counts as no opinion"
            self._frames.informational(
                f"{event}: the hook callback {hook.callback_id} failed or gave an answer that cannot be read, {what}.",
                "warning",
                tag="hook_callback_failed",
            )
            sys.stderr.write(f"The hook callback {hook.callback_id} failed.\n")
        for message in outcome.messages:
            self._frames.informational(f"{label} says: {message}", "notice")
