"""Steps of the scripted agent, from the form that people write to the form that the player plays.

The JSON form: `wait`, `out` (a frame, or I, A, R for an init, a message, a result), `raw`, `hex`,
`err`, `sleep`, `close`, `spawn`, `ignore_term`, `kill`, `exit`, `stall`, `mute`, `answer` and
`reply` (`{"subtype": …, "response": {…}}` or `"error"`), one of them a step, with `times`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from claude_wrapper.testing import agent_frames, lenient_json
from claude_wrapper.testing.faults import ScriptError

__all__ = ["Step", "from_json", "line_of", "repeated", "response", "sending"]

Step = tuple[Any, ...]
"""The name of a step of the player, and its arguments."""

PLACEHOLDER = b"$PROMPT_UUID"

LETTERS: dict[str, Callable[[], agent_frames.Frame]] = {
    "I": agent_frames.init,
    "A": lambda: agent_frames.assistant("hi"),
    "R": agent_frames.result,
}


def line_of(frame: Mapping[str, Any]) -> bytes:
    """The frame as a line, with a session id and a uuid where it lacks them."""
    return lenient_json.encode(agent_frames.stamped(frame)) + b"\n"


def sending(frame: Mapping[str, Any]) -> Step:
    """The step that sends the frame."""
    line = line_of(frame)
    return ("fill" if PLACEHOLDER in line else "write", line)


def repeated(step: Step, times: int) -> list[Step]:
    """The step so many times, without so many copies of it."""
    return [step] if times == 1 else [("repeat", times, [step])]


def response(body: Mapping[str, Any] | None, error: str | None) -> tuple[str, bytes]:
    """How a control request is answered: with an error's text or else with a body."""
    if error is not None:
        return "error", lenient_json.encode(error)
    return "success", lenient_json.encode(dict(body or {}))


def from_json(steps: Iterable[Mapping[str, Any]], gate_limit: float) -> list[Step]:
    """The steps that these JSON values stand for."""
    played: list[Step] = []
    for written in steps:
        rest = dict(written)
        times = rest.pop("times", 1)
        if len(rest) != 1:
            raise ScriptError(f"a step has one name, beside `times`: {dict(written)!r}")
        ((name, value),) = rest.items()
        if name == "out":
            played += [_sending_json(value) for _ in range(times)]
        else:
            played += repeated(_step(name, value, gate_limit), times)
    return played


def _sending_json(value: str | Mapping[str, Any]) -> Step:
    if not isinstance(value, str):
        return sending(value)
    if value not in LETTERS:
        raise ScriptError(f"no frame is called {value!r}")
    return sending(LETTERS[value]())


def _step(name: str, value: Any, gate_limit: float) -> Step:
    match name:
        case "wait" | "sleep" | "close" | "spawn" | "kill" | "exit":
            return (name, value)
        case "raw":
            return ("write", value.encode("utf-8", "surrogatepass"))
        case "hex":
            return ("write", bytes.fromhex(value))
        case "err":
            return ("err", value.encode("utf-8", "surrogatepass"))
        case "ignore_term":
            return ("ignore_term",)
        case "stall":
            return ("stall", value, gate_limit)
        case "mute":
            return ("answer", value, "mute", b"")
        case "answer" | "reply":
            return (name, value["subtype"], *response(value.get("response"), value.get("error")))
    raise ScriptError(f"no step is called {name!r}")
