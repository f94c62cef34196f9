"""What one scripted reply of the model is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from claude_wrapper.testing.faults import ScriptError

__all__ = ["Ending", "Failure", "Headers", "Hold", "Turn", "WholeReply", "check_block"]

REQUIRED_FIELDS = {
    "text": ("text",),
    "thinking": ("thinking",),
    "tool_use": ("name", "input"),
    "server_tool_use": ("name", "input"),
    "mcp_tool_use": ("name", "input"),
}

Headers = tuple[tuple[str, str], ...]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An error status that is answered `times` times before the reply itself (None: always)."""

    status: int
    times: int | None = None
    error: str = "overloaded_error"
    message: str = "scripted failure"
    headers: Headers = ()


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """Where a reply stands still at a gate: before its head (block -1), in a block, or after one.

    `chunks` is the number of the block's pieces that are sent before; None: the whole block.
    A place that is not `anchored` moves along when the turn is added to another.
    """

    gate: str
    block: int = -1
    chunks: int | None = None
    anchored: bool = False


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a streamed reply breaks off, after the last piece of `block` and before its end event."""

    kind: Literal["close", "reset", "error"] = "close"
    block: int = -1
    anchored: bool = False
    error: str = "overloaded_error"
    message: str = "scripted failure"


class WholeReply(msgspec.Struct, frozen=True, kw_only=True):
    """A reply given as bytes: a body under a status or, when `bare`, all that goes over the socket."""

    body: bytes
    status: int = 200
    content_type: str = "text/event-stream"
    bare: bool = False


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One scripted reply. Turns are added: `think("hm") + call("Bash", command="ls") + cut()`."""

    content: tuple[dict[str, Any], ...] | None = None
    """Content blocks; None: the turn is no reply yet, only failures, a stall or a cut."""
    failures: tuple[Failure, ...] = ()
    holds: tuple[Hold, ...] = ()
    ending: Ending | None = None
    whole: WholeReply | None = None
    usage: dict[str, Any] = msgspec.field(default_factory=dict)
    """Overrides of the usage counters (100 tokens in, 20 out)."""
    stop_reason: str | None = None
    """None: `tool_use` when a tool is called, else `end_turn`."""
    headers: Headers = ()
    delay: float = 0.0
    """Seconds before the reply. A gate is the better way to make something wait."""
    chunk: int | None = None
    """Characters of text in one event (40)."""
    chunk_delay: float = 0.0
    """Seconds after each event of text."""

    def __add__(self, later: Turn) -> Turn:
        shift = len(self.content or ())
        content = self.content
        if later.content is not None:
            content = (*(self.content or ()), *later.content)
        ending = self.ending
        if later.ending is not None:
            ending = _moved(later.ending, shift)
        return Turn(
            content=content,
            failures=self.failures + later.failures,
            holds=self.holds + tuple(_moved(hold, shift) for hold in later.holds),
            ending=ending,
            whole=later.whole or self.whole,
            usage={**self.usage, **later.usage},
            stop_reason=later.stop_reason or self.stop_reason,
            headers=self.headers + later.headers,
            delay=self.delay + later.delay,
            chunk=later.chunk or self.chunk,
            chunk_delay=later.chunk_delay or self.chunk_delay,
        )

    @property
    def only_fails(self) -> bool:
        """Whether nothing follows the failures, so that the next turn in the list is the reply."""
        return bool(self.failures) and self.content is None and self.whole is None and self.ending is None

    @property
    def immediate(self) -> bool:
        """Whether the reply can be sent in one go."""
        return not (self.holds or self.ending or self.delay or self.chunk_delay)


def _moved(place: Any, shift: int) -> Any:
    return place if place.anchored else msgspec.structs.replace(place, block=place.block + shift)


def check_block(content: Mapping[str, Any]) -> None:
    """Raise ScriptError when the block lacks what its events are made of."""
    kind = content.get("type")
    if not isinstance(kind, str):
        raise ScriptError(f"a content block needs a type: {content!r}")
    for name in REQUIRED_FIELDS.get(kind, ()):
        if name not in content:
            raise ScriptError(f"a {kind} block needs {name!r}: {content!r}")
