"""The frames of a subagent's conversation, as far as the host is shown them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from claude_wrapper.agent.ids import new_uuid, now_iso
from claude_wrapper.agent.pipes.frames import Frames
from claude_wrapper.wire.messages import AssistantBody, AssistantFrame, UserBody, UserFrame

from .errand import Errand

__all__ = ["ChildFrames"]

_ALWAYS_SHOWN = frozenset({"tool_use", "tool_result"})


class ChildFrames(Frames):
    """Sends what the host sees of a subagent: calls and results, and with `text` also what it says.

    Of subagents of subagents nothing is shown without `text`.
    """

    def __init__(self, parent: Frames, errand: Errand, *, text: bool) -> None:
        self.session_id = parent.session_id
        self.emit = parent.emit
        self.state = "running"
        self._state_events = None
        self._text = text or (errand.background and errand.depth == 1)
        self._shown = text or errand.depth == 1
        self._checks = errand.checks
        self._before_call = not errand.background
        self.on_call: Callable[[dict[str, Any]], None] = lambda _block: None
        """Told of every call, before or behind its frame."""
        self._about: dict[str, Any] = {
            "parent_tool_use_id": errand.call_id,
            "agent_id": errand.id,
            "subagent_type": errand.definition.name,
            "task_description": errand.description,
        }

    @property
    def shows_text(self) -> bool:
        """Whether the host sees what the subagent says."""
        return self._shown and self._text

    def to_background(self) -> None:
        """Nobody waits for the subagent any longer: the host sees more of it."""
        self._text = self._text or self._shown

    def assistant(self, uuid: str, body: AssistantBody, **fields: Any) -> None:
        """Send one block of a reply."""
        calls: list[Any] = [block for block in body.content if _type(block) == "tool_use"]
        if self._before_call:
            self._tell_calls(calls)
        if self._shown and (self._text or calls):
            self.emit(
                AssistantFrame(
                    message=body,
                    session_id=self.session_id,
                    uuid=uuid,
                    timestamp=now_iso(),
                    **self._about,
                    **fields,
                )
            )
        if not self._before_call:
            self._tell_calls(calls)

    def user(self, uuid: str, content: Any, **fields: Any) -> None:
        """Send what entered the conversation in the user's role."""
        shown = self._text or any(_type(block) in _ALWAYS_SHOWN for block in content)
        if self._shown and shown:
            if not isinstance(fields.get("tool_use_result"), str):
                # Only what went wrong is told beside the results of subagents.
                fields.pop("tool_use_result", None)
            self.emit(self._user_frame(uuid, content, fields))

    def prompt(self, uuid: str, text: str) -> None:
        """Send what the subagent is asked."""
        if self._shown and self._before_call:
            self.emit(self._user_frame(uuid, [{"type": "text", "text": text}], {}))

    def stream_event(self, data: bytes, **fields: Any) -> None:
        """Events of the stream are sent of the main conversation only."""

    def notification(self, key: str, text: str, priority: str, **fields: Any) -> None:
        """So is what a user is told for a moment."""

    def mute(self) -> None:
        """Show nothing more."""
        self._shown = False

    def thinking_tokens(self, total: int, delta: int, prompt_uuid: Any) -> None:
        """So is the count of what the model thinks."""

    def status(self, status: str | None, permission_mode: Any = None, **fields: Any) -> None:
        """So is what the agent is busy with."""

    def permission_denied(self, tool_name: str, tool_use_id: str, message: str, **fields: Any) -> None:
        """Say that a call was denied without asking, and whose call it was."""
        if self._checks:
            return
        super().permission_denied(tool_name, tool_use_id, message, agent_id=self._about["agent_id"], **fields)

    def _tell_calls(self, calls: list[Any]) -> None:
        for block in calls:
            self.on_call(block)

    def _user_frame(self, uuid: str, content: Any, fields: dict[str, Any]) -> UserFrame:
        return UserFrame(
            message=UserBody(role="user", content=content),
            session_id=self.session_id,
            uuid=uuid or new_uuid(),
            timestamp=now_iso(),
            **self._about,
            **fields,
        )


def _type(block: Any) -> Any:
    return block.get("type") if isinstance(block, dict) else None
