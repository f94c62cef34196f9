"""The view for programs: frames as lines of JSON, in the field's own format."""

from __future__ import annotations

from typing import BinaryIO

from claude_wrapper.messages import Message, ResultMessage, UnknownMessage
from claude_wrapper.wire.codec import encode_line

from .frames_out import frame_of
from .view import View

__all__ = ["JsonView"]


class JsonView(View):
    """Writes the result of a run, or every message of it. Always UTF-8, whatever the locale says."""

    def __init__(self, stream: BinaryIO, *, everything: bool) -> None:
        self._stream = stream
        self._everything = everything

    def show(self, message: Message | UnknownMessage) -> None:
        """Write a message if it is wanted."""
        if self._everything or isinstance(message, ResultMessage):
            self._stream.write(encode_line(frame_of(message)))
            self._stream.flush()
