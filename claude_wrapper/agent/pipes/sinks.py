"""Where message frames go: every one as a line, or only what print mode shows of them."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from claude_wrapper.wire.codec import encode
from claude_wrapper.wire.messages import ConversationResetFrame, ResultFrame
from claude_wrapper.wire.system_notes import (
    HookProgressFrame,
    HookResponseFrame,
    HookStartedFrame,
    PermissionDeniedFrame,
)
from claude_wrapper.wire.system_session import InitFrame
from claude_wrapper.wire.system_tasks import BackgroundTasksChangedFrame

from .output import LineWriter

__all__ = ["ArraySink", "FrameSink", "ResultSink", "StreamSink", "TextSink", "sink_for"]

_NEWS = (
    BackgroundTasksChangedFrame,
    ConversationResetFrame,
    HookProgressFrame,
    HookResponseFrame,
    HookStartedFrame,
    PermissionDeniedFrame,
)
"""Frames for hosts that follow a run; who reads an array of it afterwards finds the same in the conversation."""


class FrameSink(Protocol):
    """Takes the frames of a run in order."""

    def emit(self, frame: Any) -> None: ...


class StreamSink:
    """Every frame is a line."""

    def __init__(self, writer: LineWriter) -> None:
        self.emit = writer.write_frame


class ResultSink:
    """Only the result is shown, as one JSON object."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer

    def emit(self, frame: Any) -> None:
        if isinstance(frame, ResultFrame):
            self._writer.write_frame(frame)


class TextSink:
    """Only the text of the result is shown."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer

    def emit(self, frame: Any) -> None:
        if not isinstance(frame, ResultFrame):
            return
        text = frame.result if isinstance(frame.result, str) else ""
        if isinstance(frame.errors, list):
            text = _said(frame.subtype, frame.errors)
        self._writer.write(text.encode("utf-8", "replace") + b"\n")


def _said(subtype: str, errors: list[str]) -> str:
    """What a reader of text is told of a failed run; scripts know the lines about limits by their words."""
    text = "; ".join(errors)
    if subtype == "error_max_turns":
        text = f"Reached max turns {text[text.rfind('(') :]}"
    elif subtype == "error_max_budget_usd":
        text = f"Exceeded USD budget ({text[text.rfind('$') + 1 :]}"
    elif subtype == "error_during_execution":
        text = "Execution error"
    return text if subtype == "error_during_execution" else f"Error: {text}"


class ArraySink:
    """The frames of the conversation, as one JSON array that begins with init, once the result is there."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer
        self._lines: list[msgspec.Raw] = []

    def emit(self, frame: Any) -> None:
        if isinstance(frame, _NEWS):
            return
        line = msgspec.Raw(encode(frame))
        if isinstance(frame, InitFrame):
            self._lines.insert(0, line)
        else:
            self._lines.append(line)
        if isinstance(frame, ResultFrame):
            self._writer.write_frame(self._lines)
            self._lines = []


def sink_for(output_format: str, verbose: bool, writer: LineWriter) -> FrameSink:
    """The sink of an output format."""
    if output_format == "stream-json":
        return StreamSink(writer)
    if output_format == "json":
        return ArraySink(writer) if verbose else ResultSink(writer)
    return TextSink(writer)
