"""Control requests that change what the session does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import UNSET

from claude_wrapper.agent.config.access import ModeRefusedError
from claude_wrapper.agent.sessions.checkpointing import rewind
from claude_wrapper.agent.turns.parts import Parts
from claude_wrapper.link.peer import Answer, RequestRefusedError
from claude_wrapper.wire.replies_steer import (
    BackgroundTasksReply,
    CancelAsyncMessageReply,
    InterruptReply,
    RewindFilesReply,
    SetModeReply,
)
from claude_wrapper.wire.requests_steer import (
    BackgroundTasks,
    CancelAsyncMessage,
    EndSession,
    Interrupt,
    RenameSession,
    RewindFiles,
    SeedReadState,
    SetHasSubscribers,
    SetMaxThinkingTokens,
    SetModel,
    SetPermissionMode,
    StopTask,
)

from .model_switch import ModelSwitch

__all__ = ["Steering"]


class Steering:
    """Serves them."""

    def __init__(self, parts: Parts, end_session: Callable[[], None]) -> None:
        self._parts = parts
        self._end_session = end_session

    def handlers(self) -> dict[type, Callable[[Any], Awaitable[Any]]]:
        """The handler of each request."""
        return {
            Interrupt: self._interrupt,
            SetPermissionMode: self._set_mode,
            SetModel: ModelSwitch(self._parts).serve,
            SetMaxThinkingTokens: self._set_thinking,
            RenameSession: self._rename,
            CancelAsyncMessage: self._cancel_prompt,
            EndSession: self._end,
            RewindFiles: self._rewind,
            StopTask: self._stop_task,
            BackgroundTasks: self._to_background,
            SeedReadState: self._nothing,
            SetHasSubscribers: self._nothing,
        }

    async def _interrupt(self, request: Interrupt) -> Answer:
        """Stop the turn. Questions that are open are taken back before the answer, the rest stops behind it."""
        parts = self._parts
        reply = InterruptReply(still_queued=parts.queue.uuids)
        if request.cancel_queued is True:
            dropped = parts.queue.clear()
            for prompt in dropped:
                parts.frames.lifecycle(prompt.uuid, "cancelled")
            cancelled = [prompt.uuid for prompt in dropped if prompt.uuid is not None]
            reply = InterruptReply(still_queued=[], cancelled=cancelled)
        if not parts.interruption.running:
            return Answer(reply)
        await parts.interruption.withdraw()
        return Answer(reply, then=self._stop)

    async def _stop(self) -> None:
        self._parts.interruption.stop()

    async def _set_mode(self, request: SetPermissionMode) -> Answer:
        access = self._parts.access
        try:
            mode = access.check_mode(request.mode)
        except ModeRefusedError as refusal:
            raise RequestRefusedError(str(refusal), refusal.code) from refusal
        if mode == "auto" and not self._parts.brief.model.takes_auto:
            raise RequestRefusedError(
                "Cannot set permission mode to auto: auto mode unavailable for this model", "auto_mode_model"
            )

        async def tell() -> None:
            access.set_mode(mode)

        return Answer(SetModeReply(mode=mode), then=tell)

    async def _set_thinking(self, request: SetMaxThinkingTokens) -> None:
        tokens = request.max_thinking_tokens
        display = request.thinking_display
        self._parts.brief.use_thinking(
            tokens if isinstance(tokens, int) else None, display if isinstance(display, str) else None
        )

    async def _rename(self, request: RenameSession) -> None:
        self._parts.session.set_title(request.title)
        self._parts.frames.title_changed(request.title)

    async def _cancel_prompt(self, request: CancelAsyncMessage) -> CancelAsyncMessageReply:
        prompt = self._parts.queue.cancel(request.message_uuid)
        if prompt is None:
            return CancelAsyncMessageReply(cancelled=False)
        self._parts.queue.announce([prompt])
        self._parts.frames.lifecycle(prompt.uuid, "cancelled")
        return CancelAsyncMessageReply(cancelled=True, message_uuid=request.message_uuid)

    async def _end(self, request: EndSession) -> Answer:
        async def end() -> None:
            self._end_session()

        await self._parts.interruption.withdraw()
        return Answer(then=end)

    async def _rewind(self, request: RewindFiles) -> RewindFilesReply:
        return rewind(self._parts.checkpoints, request.user_message_id, dry_run=request.dry_run is True)

    async def _stop_task(self, request: StopTask) -> dict[str, Any]:
        await self._parts.tasks.stop(request.task_id)
        return {}

    async def _to_background(self, request: BackgroundTasks) -> BackgroundTasksReply:
        named = request.tool_use_id if isinstance(request.tool_use_id, str) else None
        moved = self._parts.tasks.to_background(named)
        return BackgroundTasksReply(backgrounded=UNSET if named is None else moved)

    async def _nothing(self, request: Any) -> None:
        return None
