"""The view for a terminal: what is over stands still, what goes on is redrawn at the bottom."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from claude_wrapper.messages import (
    AssistantMessage,
    Message,
    RateLimitEvent,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    UnknownMessage,
    UserMessage,
)
from claude_wrapper.wire.blocks import TextBlock

from .call_log import Call, CallLog, Outcome
from .ending import Ending
from .printable import printable, signs_for
from .reply_text import ReplyText
from .view import View
from .wording import count, notice_of, result_line

__all__ = ["LiveView"]

_REDRAWS = 10
"""A second."""

_SHOWN_CALLS = 4


class LiveView(View):
    """Shows calls with their outcomes, replies while they are written, and what is being waited for."""

    wants_pieces = True

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._signs = signs_for(self._console.encoding)
        self._calls = CallLog()
        self._reply = ReplyText()
        self._since = time.monotonic()
        self._answer = ""
        self._live = Live(
            get_renderable=self._below,
            console=self._console,
            refresh_per_second=_REDRAWS,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> LiveView:  # noqa: PYI034  # typing.Self is newer than 3.10
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, message: Message | UnknownMessage) -> None:
        """Show what a message says."""
        match message:
            case StreamEvent(parent_tool_use_id=None):
                self._print_text(self._reply.piece(message.event))
            case AssistantMessage():
                self._speak(message)
                for _ in self._calls.begun(message):
                    self._since = time.monotonic()
            case UserMessage():
                for outcome in self._calls.ended(message):
                    self._print_outcome(outcome)
                self._since = time.monotonic()
            case ResultMessage():
                self._finish(message)
            case _:
                self._event(message)

    def note(self, text: str) -> None:
        """Show a sentence of our own."""
        self._print(Text(printable(text), style="yellow"))

    def end(self, ending: Ending) -> None:
        """Show the calls that came to nothing, and what the run took."""
        self._live.stop()
        self._print_text(self._reply.rest())
        for call in self._calls.open.values():
            self._print_cut(self._call_line(call, "?", "yellow", "not finished"))
        result = ending.result
        if result is not None and not result.is_error and not ending.is_cut_short:
            self._print(Text(f"{self._signs.done} Done: {result_line(result)}", style="bold green"))
            self._print_whole(Text(f"  session {printable(result.session_id)}", style="dim"))

    # -- what is over

    def _event(self, message: Message | UnknownMessage) -> None:
        match message:
            case SystemMessage(subtype="init", data=data):
                self._open(data)
            case SystemMessage():
                if notice := notice_of(message):
                    self.note(notice)
            case RateLimitEvent(rate_limit_info=info) if info.status != "allowed":
                self.note(f"The rate limit is {'reached' if info.status == 'rejected' else 'near'}")
            case _:
                pass

    def _open(self, data: dict[str, Any]) -> None:
        if not self._calls.cwd:
            self._calls.cwd = str(data.get("cwd") or "")
            what = f"{data.get('model') or 'agent'} in {self._calls.cwd}"
            self._print_cut(Text(printable(what), style="dim"))

    def _speak(self, message: AssistantMessage) -> None:
        if message.parent_tool_use_id is not None or message.error is not None:
            return
        for block in message.content:
            if isinstance(block, TextBlock):
                self._print_text(self._reply.whole(block.text))
                self._answer = block.text
                self._since = time.monotonic()

    def _finish(self, result: ResultMessage) -> None:
        # Most agents have said it already; commands of the agent itself have not.
        if not result.is_error and result.result and result.result != self._answer:
            self._print_text(result.result)

    def _print_text(self, text: str) -> None:
        if text:
            self._print(Text(printable(text)))

    def _print_outcome(self, outcome: Outcome) -> None:
        sign, style = (self._signs.failed, "red") if outcome.failed else (self._signs.done, "green")
        self._print_cut(self._call_line(outcome.call, sign, style))
        indent = "  " * outcome.call.depth + "    "
        for line in outcome.lines:
            color = {"-": "red", "+": "green"}.get(line[:1], "dim") if outcome.call.name == "Edit" else "dim"
            self._print_cut(Text(indent + line, style="red" if outcome.failed else color))

    def _call_line(self, call: Call, sign: str, style: str, remark: str = "") -> Text:
        line = Text("  " * call.depth)
        line.append(f"{sign} ", style=style)
        line.append(call.name, style="bold")
        line.append(f"  {call.argument}" if call.argument else "")
        line.append(f"  {remark}" if remark else "", style="dim")
        return line

    def _print(self, text: Text) -> None:
        self._console.print(text)

    def _print_cut(self, line: Text) -> None:
        """Print what has to fit into one row."""
        self._console.print(line, no_wrap=True, overflow="ellipsis" if self._signs.is_fine else "crop")

    def _print_whole(self, line: Text) -> None:
        """Print what may be copied, and so must not be broken by us."""
        self._console.print(line, soft_wrap=True)

    # -- what goes on

    def _below(self) -> Group:
        """Return what stands at the bottom now; called for every redraw, in rich's own thread."""
        tail = self._reply.pending
        rows: list[Text] = []
        if tail:
            shown = Text(printable(tail)).wrap(self._console, self._console.width)
            rows += list(shown)[-max(self._console.height - 3, 1) :]
        open_calls = list(self._calls.open.values())
        for call in open_calls[:_SHOWN_CALLS]:
            seconds = time.monotonic() - call.since
            rows.append(self._call_line(call, self._spinner(), "cyan", f"{seconds:.0f} s"))
            rows[-1].truncate(self._console.width, overflow="crop")
        if len(open_calls) > _SHOWN_CALLS:
            rows.append(Text(f"  and {count(len(open_calls) - _SHOWN_CALLS, 'more call')}", style="dim"))
        if not rows:
            rows.append(
                Text(f"{self._spinner()} Thinking  {time.monotonic() - self._since:.0f} s", style="cyan")
            )
        return Group(*rows)

    def _spinner(self) -> str:
        frames = self._signs.spinner
        return frames[int(time.monotonic() * _REDRAWS) % len(frames)]
