"""The view for logs and pipes: the final answer to one stream, what happens on the way to another."""

from __future__ import annotations

from typing import TextIO

from claude_wrapper.messages import (
    AssistantMessage,
    Message,
    ResultMessage,
    SystemMessage,
    UnknownMessage,
    UserMessage,
)
from claude_wrapper.wire.blocks import TextBlock

from .call_log import CallLog
from .ending import Ending
from .printable import printable
from .view import View
from .wording import notice_of, result_line

__all__ = ["PlainView"]


class PlainView(View):
    """Writes lines as things happen. Without a progress stream the answer is all that is written."""

    def __init__(self, answers: TextIO, progress: TextIO | None) -> None:
        self._answers = answers
        self._progress = progress
        self._calls = CallLog()
        self._held = ""
        """What the model said last: progress when more follows, the answer when nothing does."""

    def show(self, message: Message | UnknownMessage) -> None:
        """Write what a message says."""
        match message:
            case ResultMessage():
                self._finish(message)
            case AssistantMessage():
                self._speak(message)
                for call in self._calls.begun(message):
                    self._step(f"{'  ' * call.depth}> {call.name}: {call.argument}".rstrip(": "))
            case UserMessage():
                for call, failed, lines in self._calls.ended(message):
                    verdict = "failed" if failed else "ok"
                    self._step(f"{'  ' * call.depth}< {call.name}: {verdict}")
                    for line in lines:
                        self._step(f"{'  ' * call.depth}    {line}")
            case SystemMessage(subtype="init"):
                self._calls.cwd = str(message.data.get("cwd") or "")
            case SystemMessage():
                if notice := notice_of(message):
                    self._step(f"* {notice}")
            case _:
                pass

    def note(self, text: str) -> None:
        """Write a sentence of our own."""
        self._step(text)

    def end(self, ending: Ending) -> None:
        """Write what the run took."""
        self._let_go()
        for call in self._calls.open.values():
            self._step(f"{'  ' * call.depth}< {call.name}: not finished")
        if ending.result is not None and not ending.result.is_error and not ending.is_cut_short:
            self._step(f"Done: {result_line(ending.result)}, session {ending.result.session_id}")

    def _speak(self, message: AssistantMessage) -> None:
        if message.parent_tool_use_id is not None or message.error is not None:
            return
        for block in message.content:
            if isinstance(block, TextBlock) and block.text.strip():
                self._let_go()
                self._held = block.text

    def _finish(self, result: ResultMessage) -> None:
        if result.is_error or result.result is None:
            self._let_go()
            return
        if result.result != self._held:
            self._let_go()
        self._held = ""
        if result.result:
            text = printable(result.result) if self._answers.isatty() else result.result
            print(text, file=self._answers, flush=True)

    def _let_go(self) -> None:
        held, self._held = self._held, ""
        if held:
            self._step(held.strip("\n"))

    def _step(self, text: str) -> None:
        self._let_go()
        if self._progress is not None:
            print(printable(text), file=self._progress, flush=True)
