"""The messages of a conversation as bytes, kept from request to request since only the end of it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from claude_wrapper.wire.codec import encode

__all__ = ["WrittenMessages"]

_MOVING = 8
"""So many messages at the end are written anew: marks move there, and the last ones still grow."""


class WrittenMessages:
    """Writes the messages of one conversation again and again, at the cost of what is new.

    A message that lies far back must not be changed in itself: whoever changes it puts another in
    its place. The same one is known at a glance, and one that is alike by what it says.
    """

    def __init__(self) -> None:
        self._messages: list[Mapping[str, Any]] = []
        self._bytes = bytearray()

    def write(
        self,
        messages: Sequence[Mapping[str, Any]],
        finish: Callable[[Sequence[Mapping[str, Any]], bool], list[Any]],
    ) -> msgspec.Raw:
        """The messages as a list in JSON.

        `finish` gives messages the form in which they are sent, and is told whether they are the end.
        """
        settled = max(len(messages) - _MOVING, 0)
        known = len(self._messages)
        if known > settled or self._messages != list(messages[:known]):
            self._messages, self._bytes, known = [], bytearray(), 0
        if settled > known:
            self._add(finish(messages[known:settled], False))
            self._messages.extend(messages[known:settled])
        return msgspec.Raw(b"".join((b"[", self._bytes, encode(finish(messages[settled:], True))[1:])))

    def _add(self, messages: list[Any]) -> None:
        # Each is followed by a comma: the end is never empty.
        self._bytes += encode(messages)[1:-1] + b","
