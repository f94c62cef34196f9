"""What a recording foresees: which frame of the agent comes next, and whether the program does its part. No I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from typing import Any

from claude_wrapper.testing.differences import differences
from claude_wrapper.testing.faults import ReplayError
from claude_wrapper.testing.recording_file import Entry

__all__ = ["END", "WAIT", "ReplayScript"]

Frame = dict[str, Any]

END: Any = object()
"""The agent has ended."""
WAIT: Any = object()
"""Something of the program has to come first."""

_UNCHECKED = frozenset({"keep_alive", "control_cancel_request"})
"""Frames of the program that depend on its clock, not on what it does."""

_INITIALIZE_FIELDS = ("hooks", "sdkMcpServers")
"""What the agent's later requests refer to; the rest of the handshake depends on the library's version."""

_INTERRUPT = ("control_request", "interrupt")


class _Step:
    """An entry with its place in the file, and whether it has happened."""

    __slots__ = ("done", "entry", "frame", "key", "line")

    def __init__(self, line: int, entry: Entry) -> None:
        self.line = line
        self.entry = entry
        self.frame: Frame = entry.frame or {}
        self.key = _key(self.frame)
        self.done = False


class ReplayScript:
    """Follows a recording.

    A frame of the agent may come once every frame of the program that was recorded before it has
    come. The program's may come earlier than they did, and in another order where they are answers.
    """

    def __init__(self, entries: Iterable[Entry], ignore: Collection[str] = ()) -> None:
        self._steps = [_Step(line, entry) for line, entry in enumerate(entries, 2)]
        self._expected = [
            step for step in self._steps if step.entry.kind == "sent" and step.key[0] not in _UNCHECKED
        ]
        self._ignore = ignore
        self._position = 0
        self._names: dict[str, str] = {}
        """Ids that the program made up then, and those it made up now."""
        self._extra: deque[Frame] = deque()
        self._input_has_ended = False
        self._wants_input_end = False
        self.at = 0.0
        """When the latest frame came, in seconds of the recording."""
        self.end: Entry | None = None
        """How the agent ended, once it has."""

    # -- what the program does

    def take(self, frame: Frame) -> None:
        """Take in a frame of the program; raises ReplayError when it is not what was recorded."""
        key = _key(frame)
        if key[0] in _UNCHECKED:
            return
        step = next((step for step in self._expected if step.key == key and not step.done), None)
        if step is None:
            self._take_unforeseen(frame, key)
            return
        step.done = True
        self._learn_names(step.frame, frame)
        if key == _INTERRUPT:
            return
        found = list(differences(_compared(self._renamed(step.frame)), _compared(frame), self._ignore))
        if found:
            told = "\n".join(f"  {difference}" for difference in found)
            raise ReplayError(f"{self._title(frame)} is not as in line {step.line} of the recording:\n{told}")

    def input_ended(self) -> None:
        """Take in that the program sends nothing more; raises ReplayError when something is missing."""
        self._input_has_ended = True
        missing = self.unsent
        if missing:
            raise ReplayError(f"The program ended its input without {missing}")

    # -- what the agent does

    def next(self) -> Frame | Any:
        """Return the agent's next frame, END, or WAIT."""
        if self._extra:
            return self._extra.popleft()
        while self._position < len(self._steps):
            step = self._steps[self._position]
            kind = step.entry.kind
            if kind == "closed" or (kind in {"received", "end"} and self._missing_before(step)):
                return WAIT
            if kind == "end":
                if self._wants_input_end and not self._input_has_ended:
                    return WAIT
                self.end = step.entry
                return END
            self._position += 1
            self._wants_input_end = self._wants_input_end or kind == "input_end"
            if kind == "received":
                self.at = step.entry.at
                return self._renamed(step.frame)
        return WAIT

    @property
    def awaited(self) -> str:
        """What has to happen before the agent goes on."""
        if self._position < len(self._steps):
            step = self._steps[self._position]
            missing = self._missing_before(step)
            if missing:
                return self._told(missing[0])
            if step.entry.kind == "end":
                return "the end of the program's input"
        return "the program to close the conversation: the recording ends here"

    @property
    def unsent(self) -> str | None:
        """The first thing that was recorded of the program and has not come; interrupts may be left out."""
        return next(
            (self._told(step) for step in self._expected if not step.done and step.key != _INTERRUPT), None
        )

    # -- parts

    def _take_unforeseen(self, frame: Frame, key: tuple[Any, ...]) -> None:
        if key != _INTERRUPT:
            raise ReplayError(
                f"{self._title(frame)} is not in the recording, or was sent more often than there"
            )
        # Whether a run that is left early is still at work depends on the clock.
        answer: Frame = {"subtype": "success", "request_id": frame.get("request_id"), "response": {}}
        self._extra.append({"type": "control_response", "response": answer})

    def _missing_before(self, step: _Step) -> list[_Step]:
        return [other for other in self._expected if not other.done and other.line < step.line]

    def _learn_names(self, then: Frame, now: Frame) -> None:
        for name in ("uuid", "request_id"):
            old, new = then.get(name), now.get(name)
            if isinstance(old, str) and isinstance(new, str) and old != new:
                self._names[old] = new

    def _renamed(self, value: Any) -> Any:
        if not self._names:
            return value
        if isinstance(value, str):
            return self._names.get(value, value)
        if isinstance(value, list):
            return [self._renamed(item) for item in value]
        if isinstance(value, dict):
            return {key: self._renamed(item) for key, item in value.items()}
        return value

    def _told(self, step: _Step) -> str:
        title = self._title(step.frame)
        return f"{title[0].lower()}{title[1:]} (line {step.line} of the recording)"

    def _title(self, frame: Frame) -> str:
        """Name a frame of the program."""
        match frame.get("type"):
            case "user":
                return "The prompt"
            case "control_request":
                return f"The request {_key(frame)[1]}"
            case "control_response":
                return f"The answer to {self._asked(_key(frame)[1])}"
            case kind:
                return f"The frame {kind}"

    def _asked(self, request_id: Any) -> str:
        """Name what the agent asked."""
        for step in self._steps:
            if step.entry.kind == "received" and step.frame.get("request_id") == request_id:
                request = step.frame.get("request") or {}
                what = request.get("tool_name") or request.get("callback_id") or request.get("server_name")
                return f"{request.get('subtype')}" + (f" for {what}" if what else "")
        return f"the request {request_id}, which the agent never made"


def _key(frame: Frame) -> tuple[Any, ...]:
    """What a frame is told by: its type, and for control frames what or whom they are about."""
    kind = frame.get("type")
    if kind == "control_request":
        return kind, (frame.get("request") or {}).get("subtype")
    if kind == "control_response":
        return kind, (frame.get("response") or {}).get("request_id")
    return (kind,)


def _compared(frame: Frame) -> Frame:
    """The part of a frame that is compared."""
    if _key(frame) == ("control_request", "initialize"):
        request = frame["request"]
        return {"request": {name: request.get(name) for name in _INITIALIZE_FIELDS}}
    return {name: value for name, value in frame.items() if name not in {"uuid", "request_id"}}
