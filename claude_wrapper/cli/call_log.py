"""Which tool calls are under way, and what came of those that are over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from claude_wrapper.messages import AssistantMessage, UserMessage
from claude_wrapper.wire.blocks import ToolResultBlock, ToolUseBlock

from .printable import printable
from .wording import argument_of, outcome_lines

__all__ = ["Call", "CallLog", "Outcome"]


class Call(NamedTuple):
    """A tool call, described in text that is safe to show."""

    block: ToolUseBlock
    name: str
    argument: str
    depth: int
    """0 on the main thread, 1 in a subagent."""
    since: float


class Outcome(NamedTuple):
    """How a call ended."""

    call: Call
    failed: bool
    lines: list[str]


class CallLog:
    """Follows the calls of a run."""

    def __init__(self) -> None:
        self.cwd = ""
        """The folder that paths are shown relative to."""
        self.open: dict[str, Call] = {}
        """Calls without a result, by id, oldest first."""
        self.finished = 0

    def begun(self, message: AssistantMessage) -> Iterator[Call]:
        """Give the calls that a message makes."""
        for block in message.content:
            if isinstance(block, ToolUseBlock):
                argument = printable(argument_of(block.input, self.cwd)).replace("\n", "\\n")
                depth = 0 if message.parent_tool_use_id is None else 1
                call = Call(block, printable(block.name), argument, depth, time.monotonic())
                self.open[block.id] = call
                yield call

    def ended(self, message: UserMessage) -> Iterator[Outcome]:
        """Give the outcomes that a message reports."""
        for block in message.content if isinstance(message.content, list) else ():
            if isinstance(block, ToolResultBlock) and (call := self.open.pop(block.tool_use_id, None)):
                self.finished += 1
                failed = bool(block.is_error)
                lines = outcome_lines(call.block.name, call.block.input, block.content, failed=failed)
                yield Outcome(call, failed, [printable(line).expandtabs(4) for line in lines])
