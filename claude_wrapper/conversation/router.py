"""Sends what the agent writes where it belongs: control frames to the peer, messages to the inbox."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from claude_wrapper import messages as m
from claude_wrapper.link.peer import ControlPeer
from claude_wrapper.wire.codec import BadFrame, FrameDecoder, MalformedLine, UnknownFrame, decode_object
from claude_wrapper.wire.control import (
    ControlCancelFrame,
    ControlRequestFrame,
    ControlResponseFrame,
    KeepAliveFrame,
)
from claude_wrapper.wire.framing import Line, LineSplitter
from claude_wrapper.wire.messages import (
    AssistantFrame,
    ConversationResetFrame,
    RateLimitEventFrame,
    ResultFrame,
    UserFrame,
)
from claude_wrapper.wire.notices import SystemHead, TranscriptMirrorFrame

from . import reading
from .inbox import Inbox
from .mirror import StoreMirror
from .turns import TurnTracker

__all__ = ["Router"]

logger = logging.getLogger("claude_wrapper.conversation")

_DECODER: FrameDecoder[Any] = FrameDecoder(
    m.StreamEvent
    | AssistantFrame
    | UserFrame
    | ResultFrame
    | SystemHead
    | ControlRequestFrame
    | ControlResponseFrame
    | ControlCancelFrame
    | KeepAliveFrame
    | RateLimitEventFrame
    | ConversationResetFrame
    | TranscriptMirrorFrame
)

_NOT_MESSAGES = frozenset(
    {
        "prompt_suggestion",
        "tool_progress",
        "tool_use_summary",
        "auth_status",
        "command_lifecycle",
        "active_goal",
        "autocompact_state",
    }
)
"""Frames of known types that the official SDK keeps from its users as well."""


_Named = TypeVar("_Named", m.AssistantMessage, m.ResultMessage)


class Router:
    """Takes bytes in; nothing here waits, so that control frames never stand behind unread messages."""

    def __init__(
        self,
        peer: ControlPeer,
        inbox: Inbox,
        turns: TurnTracker,
        *,
        max_frame_bytes: int,
        mirror: StoreMirror | None = None,
    ) -> None:
        self._peer = peer
        self._inbox = inbox
        self._turns = turns
        self._splitter = LineSplitter(max_frame_bytes)
        self._mirror = mirror
        self.own_uuids: set[str] = set()
        """Ids that this library gave to prompts; users that set none are shown none."""
        self.last_fault: str | None = None
        """What the latest reply named as its error, if it was one."""
        self.last_result: dict[str, Any] | None = None
        """The latest result, as long as nothing followed it but states and news of tasks, which a failed turn ends."""
        self.session_id: str | None = None
        """The session that the agent named last."""
        self.lost_lines = 0
        """How many lines were no frames, or too long."""

    def feed(self, chunk: bytes) -> None:
        """Take in bytes as they were read."""
        self._route(self._splitter.feed(chunk), len(chunk))

    def finish(self) -> None:
        """Take in the end: a last line without a newline counts if it is whole."""
        self._route(self._splitter.finish(), 0)

    def _route(self, lines: Sequence[Line], size: int) -> None:
        if not lines:
            return
        frames: Sequence[Any] = _DECODER.decode_batch(lines)
        if len(frames) != len(lines):
            lines = [
                line for line in lines if not isinstance(line, bytes) or not (not line or line.isspace())
            ]
        out: list[Any] = []
        for frame, line in zip(frames, lines, strict=True):
            kind = type(frame)
            if kind is m.StreamEvent:
                out.append(frame)
            elif kind is AssistantFrame:
                self.last_fault = frame.error or None
                out.append(self._without_own(reading.assistant_message(frame)))
            elif kind is UserFrame:
                out.append(reading.user_message(frame))
            else:
                message = self._readable(frame, line)
                if type(message) is m.ResultMessage and self._mirror is not None:
                    self._hold_back(out)
                if message is not None:
                    out.append(message)
                continue
            self.last_result = None
        if out:
            self._inbox.put(out, size)

    def _hold_back(self, out: list[Any]) -> None:
        """Hold back a result until what was mirrored before it is in the store."""
        assert self._mirror is not None
        slot = self._mirror.flush()
        if slot is not None:
            self._inbox.put(out, 0)
            out.clear()
            self._inbox.hold(slot)

    def _readable(self, frame: Any, line: Line) -> Any:
        try:
            return self._other(frame, line)
        except msgspec.DecodeError as error:
            # A part that the first look had no need of cannot be read.
            return self._unreadable(frame, line, error)

    def _other(self, frame: Any, line: Line) -> Any:
        """Deal with a frame that is not one of the frequent ones; return the message in it, if any."""
        match frame:
            case ControlRequestFrame() | ControlResponseFrame() | ControlCancelFrame():
                self._peer.receive(frame)
                return None
            case SystemHead():
                assert isinstance(line, bytes)
                return self._system(decode_object(line))
            case ResultFrame():
                assert isinstance(line, bytes)
                return self._result(reading.result_message(frame), decode_object(line))
            case TranscriptMirrorFrame(file_path=path, entries=entries):
                if self._mirror is not None:
                    self._mirror.add(path, entries, len(line) if isinstance(line, bytes) else 0)
                return None
            case KeepAliveFrame():
                return None
            case MalformedLine():
                self._lost(frame)
                return None
            case BadFrame():
                return self._bad(frame)
            case _:
                self.last_result = None
                return self._rare(frame, line)

    def _rare(self, frame: Any, line: Line) -> Any:
        match frame:
            case RateLimitEventFrame():
                assert isinstance(line, bytes)
                return reading.rate_limit_event(frame, decode_object(line))
            case ConversationResetFrame():
                return reading.conversation_reset(frame)
            case UnknownFrame(type=kind, raw=raw):
                return None if kind in _NOT_MESSAGES else m.UnknownMessage(kind, raw)
            case _:
                raise AssertionError(frame)

    def _system(self, raw: dict[str, Any]) -> m.SystemMessage | None:
        subtype = str(raw.get("subtype", ""))
        if subtype == "session_state_changed":
            self._turns.state_changed(str(raw.get("state")))
            return None if raw.get("sdk_host_only") is True else reading.system_message(raw)
        if subtype.startswith("task_"):
            self._turns.task_event(subtype, raw)
        elif subtype != "background_tasks_changed":
            self.last_result = None
        if subtype == "init":
            self._note_session(raw)
        return reading.system_message(raw)

    def _result(self, message: m.ResultMessage, raw: dict[str, Any]) -> m.ResultMessage:
        self.last_result = raw
        self._note_session(raw)
        uuids = raw.get("user_message_uuids")
        uuids = uuids if uuids and isinstance(uuids, list) else [raw.get("user_message_uuid")]
        origin = raw.get("origin")
        background = isinstance(origin, dict) and origin.get("kind") not in (None, "human")
        self._turns.result_came([u for u in uuids if isinstance(u, str)], background=background)
        return self._without_own(message)

    def _note_session(self, raw: dict[str, Any]) -> None:
        named = raw.get("session_id")
        if isinstance(named, str) and named:
            self.session_id = named

    def _bad(self, frame: BadFrame) -> Any:
        """Save what can be used of a frame of the wrong shape."""
        logger.warning("a frame of type %r has an unexpected shape: %s", frame.type, frame.error)
        if frame.type is None or frame.type.startswith("control_") or frame.type == "transcript_mirror":
            self.lost_lines += 1
            return None
        message = reading.lenient_message(frame.raw)
        if isinstance(message, m.ResultMessage):
            return self._result(message, frame.raw)
        if isinstance(message, m.SystemMessage):
            return self._system(frame.raw)
        self.last_result = None
        return message

    def _unreadable(self, frame: Any, line: Line, error: Exception) -> m.ResultMessage | None:
        if isinstance(frame, ResultFrame):
            return self._result(reading.result_message(frame), msgspec.to_builtins(frame))
        assert isinstance(line, bytes)
        self._lost(MalformedLine(line, error))
        return None

    def _lost(self, line: MalformedLine) -> None:
        self.lost_lines += 1
        logger.warning(
            "a line of %s bytes from the agent is no frame and was skipped: %s", line.size, line.error
        )

    def _without_own(self, message: _Named) -> _Named:
        """Take out the prompt ids that the user did not choose."""
        if not self.own_uuids:
            return message
        if self._is_own(message.user_message_uuid):
            message.user_message_uuid = None
        if isinstance(message.user_message_uuids, list):
            message.user_message_uuids = [
                uuid for uuid in message.user_message_uuids if not self._is_own(uuid)
            ] or None
        return message

    def _is_own(self, uuid: Any) -> bool:
        return isinstance(uuid, str) and uuid in self.own_uuids
