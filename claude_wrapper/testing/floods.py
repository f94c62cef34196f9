"""Many frames, encoded ahead, to see how fast a host takes them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from claude_wrapper.testing import agent_frames, lenient_json

__all__ = ["big_frames", "deltas", "tool_turns"]

MARK = "%NUMBER%"


def deltas(count: int, text: str = "word ") -> Iterator[bytes]:
    """So many pieces of streamed text."""
    return _numbered([agent_frames.delta(text)], count)


def tool_turns(count: int, output: str = "ok") -> Iterator[bytes]:
    """So many tool calls with their results: two frames each, every id its own."""
    tool_use_id, message_id = f"toolu_{MARK}", f"msg_{MARK}"
    call = agent_frames.tool_call("Bash", {"command": "ls"}, tool_use_id=tool_use_id, message_id=message_id)
    return _numbered([call, agent_frames.tool_result(output, tool_use_id=tool_use_id)], count)


def big_frames(count: int, size: int = 1_200_000) -> Iterator[bytes]:
    """So many messages with a text of so many bytes."""
    return _numbered([agent_frames.assistant("x" * size, message_id=f"msg_{MARK}")], count)


def _numbered(frames: list[agent_frames.Frame], count: int) -> Iterator[bytes]:
    """The frames again and again, with new ids in place of the marks."""
    session = agent_frames.SESSION_ID
    stamped = [{**frame, "session_id": session, "uuid": f"{MARK}"} for frame in frames]
    unit = b"".join(lenient_json.encode(frame) + b"\n" for frame in stamped)
    pieces = unit.split(MARK.encode())
    for number in range(count):
        # A number in the form of a uuid costs less than a random one, and is as unlike the others.
        yield str(uuid.UUID(int=number, version=4)).encode().join(pieces)
