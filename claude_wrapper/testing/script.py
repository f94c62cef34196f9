"""Which turn of a script answers which request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from claude_wrapper.testing.faults import ScriptError
from claude_wrapper.testing.model_request import ModelRequest, RequestKind
from claude_wrapper.testing.phrases import say
from claude_wrapper.testing.turns import Failure, Turn

__all__ = ["Ask", "Choice", "Message", "Order", "Responder", "Script", "TurnSource"]

Responder = Callable[[ModelRequest], Turn]
TurnSource = Turn | Responder
"""A turn, or a function that makes the turn from the request that it answers."""

Order = Literal["history", "queue"]

SIDE_REPLY = say("ok")


class _Block(msgspec.Struct):
    type: Any = ""
    text: Any = ""


class Message(msgspec.Struct):
    """One message of the conversation."""

    role: str
    content: str | list[_Block]

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(block.text) for block in self.content if block.type == "text")

    @property
    def is_prompt(self) -> bool:
        if self.role != "user":
            return False
        return isinstance(self.content, str) or all(block.type != "tool_result" for block in self.content)


class Ask(msgspec.Struct):
    """The parts of a Messages API request that decide which turn answers it."""

    messages: list[Message] = []
    tools: list[msgspec.Raw] | None = None
    model: str = "m"
    stream: bool = False

    def replies_so_far(self, *, in_all: bool) -> int:
        """How many assistant messages stand behind the newest plain prompt (or in all)."""
        start = 0
        if not in_all:
            prompts = (i for i in range(len(self.messages) - 1, -1, -1) if self.messages[i].is_prompt)
            start = next(prompts, 0)
        return sum(message.role == "assistant" for message in self.messages[start:])

    @property
    def opening(self) -> str:
        """The text of the first two messages, where markers are looked for."""
        return "\n".join(message.text for message in self.messages[:2])


class Choice(NamedTuple):
    """What answers a request: a turn, an error status, or nothing when the list is used up."""

    kind: RequestKind
    list_name: str
    answer: Turn | Failure | None


class _TurnList:
    """Turns in order, and how far each has been played."""

    def __init__(self, turns: Sequence[TurnSource]) -> None:
        self._turns = _with_failures_in_front(turns)
        self._failed = [0] * len(self._turns)
        self._next = 0

    def at(self, index: int, request: ModelRequest) -> Turn | Failure | None:
        """The turn at this place, or the last one."""
        if not self._turns:
            return None
        index = min(index, len(self._turns) - 1)
        turn = _made(self._turns[index], request)
        failure = self._failure(index, turn)
        if failure is None and turn.only_fails:
            return turn.failures[-1]
        return failure or turn

    def take(self, request: ModelRequest) -> Turn | Failure | None:
        """The next turn that has not been played."""
        while self._next < len(self._turns):
            index = self._next
            turn = _made(self._turns[index], request)
            failure = self._failure(index, turn)
            if failure is not None:
                return failure
            self._next += 1
            if not turn.only_fails:
                return turn
        return None

    def _failure(self, index: int, turn: Turn) -> Failure | None:
        played = self._failed[index]
        for failure in turn.failures:
            if failure.times is None or played < failure.times:
                self._failed[index] += 1
                return failure
            played -= failure.times
        return None


class Script:
    """Lists of turns: `main`, `sub` (by a marker in the conversation's first two messages), `side`.

    A request without tools is answered from `side` (by a marker anywhere in the request, else
    with "ok") unless `toolless` says that such requests belong to the conversation.

    With `order="history"` the turn is chosen by the number of assistant messages since the newest
    prompt (`count_all`: since the beginning), so that several conversations can play one script,
    repeated requests get the same turn, and the last turn serves whatever follows. With
    `order="queue"` every request takes the next turn, and one too many is an error.
    """

    def __init__(
        self,
        main: Sequence[TurnSource] = (),
        *,
        sub: Mapping[str, Sequence[TurnSource]] | None = None,
        side: Mapping[str, Sequence[TurnSource]] | None = None,
        order: Order = "history",
        count_all: bool = False,
        toolless: bool = False,
    ) -> None:
        self._main = _TurnList(main)
        self._sub = {marker: _TurnList(turns) for marker, turns in (sub or {}).items()}
        self._side = {marker: _TurnList(turns) for marker, turns in (side or {}).items()}
        self._queue = order == "queue"
        self._count_all = count_all
        self._toolless = toolless

    def current(self) -> Script:
        """The script itself, where the caller would take one that changes."""
        return self

    def choose(self, ask: Ask, request: ModelRequest) -> Choice:
        """What answers this request. Counts: each call stands for one request."""
        if not ask.tools and not self._toolless:
            return self._choose_side(request)
        name, turns = "main", self._main
        opening = ask.opening if self._sub else ""
        for marker, candidate in self._sub.items():
            if marker in opening:
                name, turns = marker, candidate
        if self._queue:
            return Choice("turn", name, turns.take(request))
        return Choice("turn", name, turns.at(ask.replies_so_far(in_all=self._count_all), request))

    def _choose_side(self, request: ModelRequest) -> Choice:
        for marker, turns in self._side.items():
            if marker.encode() in request.raw_body:
                return Choice("side", marker, turns.take(request) or SIDE_REPLY)
        return Choice("side", "", SIDE_REPLY)


def _made(source: TurnSource, request: ModelRequest) -> Turn:
    if isinstance(source, Turn):
        return source
    made = source(request)
    if not isinstance(made, Turn):
        raise ScriptError(f"a scripted function answered with {type(made).__name__} instead of a turn")
    return made


def _with_failures_in_front(turns: Sequence[TurnSource]) -> list[TurnSource]:
    """Failures that end are no replies of their own: they come before the turn that follows."""
    joined: list[TurnSource] = []
    waiting = Turn()
    for source in turns:
        if not isinstance(source, Turn):
            joined += [waiting, source] if waiting.failures else [source]
            waiting = Turn()
        elif source.only_fails and all(failure.times is not None for failure in source.failures):
            waiting += source
        else:
            joined.append(waiting + source)
            waiting = Turn()
    return [*joined, waiting] if waiting.failures else joined
