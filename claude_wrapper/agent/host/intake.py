"""The host's side of stdin: prompts into the queue, control frames to the peer, the end to both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET

from claude_wrapper.agent.host.prompts import Prompt, PromptQueue
from claude_wrapper.link.peer import ControlPeer
from claude_wrapper.wire.codec import BadFrame, FrameDecoder, MalformedLine, UnknownFrame
from claude_wrapper.wire.control import (
    ControlCancelFrame,
    ControlRequestFrame,
    ControlResponseFrame,
    KeepAliveFrame,
)
from claude_wrapper.wire.framing import LineSplitter
from claude_wrapper.wire.messages import PromptFrame

from .link import HostGoneError

__all__ = ["HostInput"]

HostFrame = PromptFrame | ControlRequestFrame | ControlResponseFrame | ControlCancelFrame | KeepAliveFrame
_GONE = "Tool permission stream closed before response received"


class HostInput:
    """Takes in what the host writes.

    `on_fault` is told of what ends the process: a line that is no frame; `on_response` of the host's answers.
    """

    def __init__(
        self,
        queue: PromptQueue,
        peer: ControlPeer,
        on_fault: Callable[[str], None],
        *,
        initialize_first: bool = False,
        on_response: Callable[[ControlResponseFrame], None] | None = None,
    ) -> None:
        self._queue = queue
        self._peer = peer
        self._on_fault = on_fault
        self._lines = LineSplitter()
        self._decoder: FrameDecoder[HostFrame] = FrameDecoder(HostFrame)
        self._initialize_first = initialize_first
        self._on_response = on_response
        self._faulty = False

    def feed(self, data: bytes) -> None:
        """Take in bytes of stdin."""
        for frame in self._decoder.decode_batch(self._lines.feed(data)):
            if self._faulty:
                return
            self._take(frame)

    def end(self) -> None:
        """Take in the end of stdin: no more prompts, and nobody answers any more."""
        for frame in self._decoder.decode_batch(self._lines.finish()):
            if not self._faulty:
                self._take(frame)
        self._peer.fail(HostGoneError(_GONE))
        self._queue.close()

    def _take(self, frame: HostFrame | UnknownFrame | BadFrame | MalformedLine) -> None:
        if self._initialize_first:
            self._initialize_first = False
            if not (isinstance(frame, ControlRequestFrame) and b'"initialize"' in bytes(frame.request)):
                self._fail("The first line on stdin has to be the initialize request.")
                return
        match frame:
            case PromptFrame():
                self._prompt(frame)
            case ControlResponseFrame() if self._on_response is not None:
                self._on_response(frame)
                self._peer.receive(frame)
            case ControlRequestFrame() | ControlResponseFrame() | ControlCancelFrame():
                self._peer.receive(frame)
            case BadFrame(type="user"):
                self._fail(f"A user frame on stdin is not valid: {frame.error}")
            case MalformedLine() if not _is_json(frame.line):
                self._fail(f"A line on stdin is no JSON: {frame.error}")
            case _:
                pass

    def _prompt(self, frame: PromptFrame) -> None:
        if frame.message.role != "user":
            self._fail(f"A message on stdin has the role '{frame.message.role}'; only 'user' is taken.")
            return
        self._queue.put(
            Prompt(
                content=frame.message.content,
                uuid=frame.uuid if isinstance(frame.uuid, str) else None,
                priority=frame.priority if isinstance(frame.priority, str) else None,
                as_written=frame.client_composed is True,
                asks_model=frame.should_query is not False,
                is_synthetic=frame.is_synthetic is not UNSET and bool(frame.is_synthetic),
                is_human=_is_human(frame.origin),
            )
        )

    def _fail(self, text: str) -> None:
        self._faulty = True
        self._on_fault(text)


def _is_human(origin: Any) -> bool:
    """Whether a host says that a person wrote the prompt; other origins are not for it to say."""
    return isinstance(origin, dict) and origin.get("kind") == "human"


def _is_json(line: bytes) -> bool:
    """Whether a line that is no object is JSON all the same; such lines mean nothing and do no harm."""
    try:
        msgspec.json.decode(line)
    except RecursionError:  # deeper than anybody can mean it, but no sign of a broken stream
        return True
    except msgspec.DecodeError:
        return False
    return True
