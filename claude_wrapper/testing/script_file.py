"""Scripts as JSON files.

A script is a list of turns, or `{"main": [turns], "sub": {marker: [turns]}, "side": {marker:
[turns]}, "count": "all", "toolless": true, "order": "queue"}`. A turn holds `content` (blocks;
`$ID` in them becomes a new id for each reply) and, where wanted, `usage`, `stop_reason`,
`headers`, `delay`, `chunk`, `chunk_delay`; `status` with `times`, `error`, `message` (or a list
`failures`); `cut` (a block's index) or `ending`, `gate` or `holds`, and `whole` for a raw reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from claude_wrapper.testing import lenient_json
from claude_wrapper.testing.faults import ScriptError
from claude_wrapper.testing.script import Order, Script
from claude_wrapper.testing.turns import Ending, Failure, Headers, Hold, Turn, WholeReply, check_block

__all__ = ["ScriptFile", "read_script", "script_from_json", "script_to_json"]


class _Whole(msgspec.Struct, forbid_unknown_fields=True):
    body: str = ""
    body_base64: bytes = b""
    status: int = 200
    content_type: str = "text/event-stream"
    bare: bool = False

    def reply(self) -> WholeReply:
        return WholeReply(
            body=self.body_base64 or self.body.encode("utf-8", "surrogatepass"),
            status=self.status,
            content_type=self.content_type,
            bare=self.bare,
        )


class _TurnRecord(msgspec.Struct, forbid_unknown_fields=True):
    content: list[dict[str, Any]] | None = None
    usage: dict[str, Any] = {}
    stop_reason: str | None = None
    delay: float = 0.0
    chunk: int | None = None
    chunk_delay: float = 0.0
    status: int | None = None
    times: int | None = None
    error: str = "overloaded_error"
    message: str = "scripted failure"
    headers: Headers = ()
    failures: list[Failure] = []
    cut: int | None = None
    ending: Ending | None = None
    gate: str | None = None
    holds: list[Hold] = []
    whole: _Whole | None = None

    def turn(self) -> Turn:
        holds = [msgspec.structs.replace(hold, anchored=True) for hold in self.holds]
        for block in self.content or ():
            check_block(block)
        if self.gate is not None:
            holds.insert(0, Hold(gate=self.gate))
        return Turn(
            content=None if self.content is None else tuple(self.content),
            failures=self._failures(),
            holds=tuple(holds),
            ending=self._ending(),
            whole=None if self.whole is None else self.whole.reply(),
            usage=self.usage,
            stop_reason=self.stop_reason,
            headers=() if self.status else self.headers,
            delay=self.delay,
            chunk=self.chunk,
            chunk_delay=self.chunk_delay,
        )

    def _failures(self) -> tuple[Failure, ...]:
        if not self.status:
            return tuple(self.failures)
        failure = Failure(
            status=self.status,
            times=self.times,
            error=self.error,
            message=self.message,
            headers=self.headers,
        )
        return (failure,)

    def _ending(self) -> Ending | None:
        if self.cut is not None:
            return Ending(block=self.cut, anchored=True)
        return None if self.ending is None else msgspec.structs.replace(self.ending, anchored=True)


class _ScriptRecord(msgspec.Struct, forbid_unknown_fields=True):
    main: list[_TurnRecord] = []
    sub: dict[str, list[_TurnRecord]] = {}
    side: dict[str, list[_TurnRecord]] = {}
    count: Literal["prompt", "all"] = "prompt"
    toolless: bool = False
    order: Order = "history"


def script_from_json(value: Any) -> Script:
    """The script that a decoded JSON value stands for."""
    shape = {"main": value} if isinstance(value, list) else value
    try:
        record = msgspec.convert(shape, _ScriptRecord)
    except msgspec.ValidationError as error:
        raise ScriptError(f"not a script: {error}") from error
    return Script(
        _turns(record.main),
        sub={marker: _turns(turns) for marker, turns in record.sub.items()},
        side={marker: _turns(turns) for marker, turns in record.side.items()},
        order=record.order,
        count_all=record.count == "all",
        toolless=record.toolless,
    )


def read_script(path: Path) -> Script:
    """The script in this file."""
    try:
        value = lenient_json.decode(path.read_bytes())
    except OSError as error:
        raise ScriptError(f"cannot read the script {path}: {error.strerror}") from error
    except ValueError as error:
        raise ScriptError(f"the script {path} is no JSON: {error}") from error
    return script_from_json(value)


def script_to_json(
    main: Sequence[Turn],
    *,
    sub: Mapping[str, Sequence[Turn]] | None = None,
    side: Mapping[str, Sequence[Turn]] | None = None,
    order: Order = "history",
    count_all: bool = False,
    toolless: bool = False,
) -> bytes:
    """The text of a script file with these turns."""
    return lenient_json.encode(
        {
            "main": _turns_to_json(main),
            "sub": {marker: _turns_to_json(turns) for marker, turns in (sub or {}).items()},
            "side": {marker: _turns_to_json(turns) for marker, turns in (side or {}).items()},
            "order": order,
            "count": "all" if count_all else "prompt",
            "toolless": toolless,
        }
    )


def _turns_to_json(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    return [_turn_to_json(turn) for turn in turns]


def _turn_to_json(turn: Turn) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(turn)
    if written["whole"] is not None:
        written["whole"]["body_base64"] = written["whole"].pop("body")
    return written


class ScriptFile:
    """A script on disk, read anew when the file changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = self._stamp_now()
        self._script = read_script(path)

    def current(self) -> Script:
        """The script as the file has it now; a broken one is read again by the next call."""
        stamp = self._stamp_now()
        if stamp != self._stamp:
            self._script = read_script(self._path)
            self._stamp = stamp
        return self._script

    def _stamp_now(self) -> tuple[int, int, int]:
        try:
            status = self._path.stat()
        except OSError:
            return (0, 0, 0)
        return (status.st_mtime_ns, status.st_size, status.st_ino)


def _turns(records: list[_TurnRecord]) -> list[Turn]:
    return [record.turn() for record in records]
