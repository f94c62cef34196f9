"""The frames of the conversation, made and sent in one place, with the ids that all of them carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from claude_wrapper.agent.ids import new_uuid, now_iso
from claude_wrapper.wire.messages import (
    AssistantBody,
    AssistantFrame,
    StreamEventFrame,
    UserBody,
    UserFrame,
)
from claude_wrapper.wire.notices import CommandLifecycleFrame, TranscriptMirrorFrame
from claude_wrapper.wire.system_notes import (
    ElicitationCompleteFrame,
    InformationalFrame,
    NotificationFrame,
    PermissionDeniedFrame,
)
from claude_wrapper.wire.system_session import (
    ApiRetryFrame,
    CommandsChangedFrame,
    ModelFallbackFrame,
    ModelRefusalNoFallbackFrame,
    SessionStateChangedFrame,
    SessionTitleChangedFrame,
    StatusFrame,
    ThinkingTokensFrame,
)
from claude_wrapper.wire.system_tasks import BackgroundTasksChangedFrame

from .sinks import FrameSink

__all__ = ["Frames"]

Text = str | UnsetType


class Frames:
    """Sends frames of one session. `session_id` may change when the conversation is cleared."""

    def __init__(self, sink: FrameSink, session_id: str, state_events: str | None) -> None:
        self.session_id = session_id
        self.emit = sink.emit
        self._state_events = state_events
        self.state = "idle"

    def session_state(self, state: str) -> None:
        """Say that the session is idle, running or waits for the host, if that is news to a host that listens."""
        if state == self.state:
            return
        self.state = state
        if self._state_events is not None:
            self.emit(
                SessionStateChangedFrame(
                    state=state,
                    sdk_host_only=True if self._state_events == "host" else UNSET,
                    uuid=new_uuid(),
                    session_id=self.session_id,
                )
            )

    def lifecycle(self, prompt_uuid: str | None, state: str) -> None:
        """Say how far a prompt has come, if the host gave it an id."""
        if prompt_uuid is not None:
            self.emit(
                CommandLifecycleFrame(
                    command_uuid=prompt_uuid, state=state, uuid=new_uuid(), session_id=self.session_id
                )
            )

    def status(self, status: str | None, permission_mode: Text = UNSET, **fields: Any) -> None:
        """Say what the agent is busy with, or that the permission mode is another."""
        self.emit(
            StatusFrame(
                status=status,
                permission_mode=permission_mode,
                uuid=new_uuid(),
                session_id=self.session_id,
                **fields,
            )
        )

    def assistant(self, uuid: str, body: AssistantBody, **fields: Any) -> None:
        """Send one block of a reply."""
        self.emit(
            AssistantFrame(
                message=body,
                parent_tool_use_id=None,
                session_id=self.session_id,
                uuid=uuid,
                timestamp=now_iso(),
                **fields,
            )
        )

    def user(self, uuid: str, content: Any, *, timed: bool = True, **fields: Any) -> None:
        """Send something that entered the conversation in the user's role."""
        self.emit(
            UserFrame(
                message=UserBody(role="user", content=content),
                parent_tool_use_id=None,
                session_id=self.session_id,
                uuid=uuid,
                timestamp=now_iso() if timed else UNSET,
                **fields,
            )
        )

    def stream_event(self, data: bytes, **fields: Any) -> None:
        """Pass an event of the model's stream on."""
        self.emit(
            StreamEventFrame(
                event=msgspec.Raw(data),
                session_id=self.session_id,
                parent_tool_use_id=None,
                uuid=new_uuid(),
                **fields,
            )
        )

    def thinking_tokens(self, total: int, delta: int, prompt_uuid: Text) -> None:
        """Say how much the model has thought."""
        self.emit(
            ThinkingTokensFrame(
                estimated_tokens=total,
                estimated_tokens_delta=delta,
                user_message_uuid=prompt_uuid,
                uuid=new_uuid(),
                session_id=self.session_id,
            )
        )

    def api_retry(self, **fields: Any) -> None:
        """Say that a request is tried again."""
        self.emit(ApiRetryFrame(uuid=new_uuid(), session_id=self.session_id, **fields))

    def model_fallback(self, trigger: str, original: str, fallback: str) -> None:
        """Say that another model answers for the rest of the turn."""
        why = "was not found" if trigger == "model_not_found" else "cannot answer at the moment"
        self.emit(
            ModelFallbackFrame(
                trigger=trigger,
                original_model=original,
                fallback_model=fallback,
                content=f"{fallback} takes over for this turn, since {original} {why}",
                uuid=new_uuid(),
                session_id=self.session_id,
            )
        )

    def informational(self, content: str, level: str, **fields: Any) -> None:
        """Tell the user something."""
        self.emit(
            InformationalFrame(
                content=content, level=level, uuid=new_uuid(), session_id=self.session_id, **fields
            )
        )

    def notification(self, key: str, text: str, priority: str, **fields: Any) -> None:
        """Tell the user something for a moment."""
        self.emit(
            NotificationFrame(
                key=key, text=text, priority=priority, uuid=new_uuid(), session_id=self.session_id, **fields
            )
        )

    def permission_denied(self, tool_name: str, tool_use_id: str, message: str, **fields: Any) -> None:
        """Say that a call was denied without asking."""
        self.emit(
            PermissionDeniedFrame(
                tool_name=tool_name,
                tool_use_id=tool_use_id,
                message=message,
                uuid=new_uuid(),
                session_id=self.session_id,
                **fields,
            )
        )

    def refused(self, model: str, prompt_uuid: str | None) -> None:
        """Say that the model refused and no other one takes over."""
        self.emit(
            ModelRefusalNoFallbackFrame(
                original_model=model,
                request_id=None,
                api_refusal_category=None,
                api_refusal_explanation=None,
                refused_user_message_uuid=prompt_uuid,
                content="",
                uuid=new_uuid(),
                session_id=self.session_id,
            )
        )

    def title_changed(self, title: str) -> None:
        """Say that the session has another title."""
        self.emit(SessionTitleChangedFrame(title=title, uuid=new_uuid(), session_id=self.session_id))

    def commands_changed(self, commands: list[dict[str, Any]]) -> None:
        """Say which commands there are now."""
        self.emit(CommandsChangedFrame(commands=commands, uuid=new_uuid(), session_id=self.session_id))

    def elicitation_complete(self, server: str, question: str) -> None:
        """Say that the user has done what a server had asked for elsewhere."""
        self.emit(
            ElicitationCompleteFrame(
                mcp_server_name=server, elicitation_id=question, uuid=new_uuid(), session_id=self.session_id
            )
        )

    def background_tasks(self, tasks: Sequence[Any]) -> None:
        """Say what runs in the background."""
        self.emit(BackgroundTasksChangedFrame(tasks=list(tasks), uuid=new_uuid(), session_id=self.session_id))

    def mirror(self, path: str, lines: Sequence[bytes]) -> None:
        """Repeat lines that were written to a transcript."""
        entries: list[Any] = [msgspec.Raw(line) for line in lines]
        self.emit(TranscriptMirrorFrame(file_path=path, entries=entries))
