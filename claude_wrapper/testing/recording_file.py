"""The file of a recorded run: a JSON line for each frame, both ways, and for how the run ended."""

from __future__ import annotations

import contextlib
import os
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

import msgspec

from claude_wrapper.conversation.masking import Mask
from claude_wrapper.testing.faults import ScriptError

__all__ = ["Entry", "Kind", "RecordingWriter", "read_recording"]

Kind = Literal["sent", "received", "input_end", "end", "closed"]
"""What an entry is: a frame of the program, a frame of the agent, the end of the program's input, the agent's end, and that the program closed the conversation first."""

VERSION = 1


class Header(msgspec.Struct):
    """The first line."""

    recording: int
    """The version of the format."""
    made: str
    """When, in UTC."""


class Entry(msgspec.Struct, omit_defaults=True):
    """Every other line."""

    at: float
    """Seconds since the first line."""
    kind: Kind = msgspec.field(name="is")
    frame: dict[str, Any] | None = None
    exit_code: int | None = None
    stderr: str = ""
    error: str = ""


_entry_decoder = msgspec.json.Decoder(Entry)


class RecordingWriter:
    """Writes a recording; each entry is in the file before the next thing happens.

    The file is new or emptied, and only its owner may read it.
    """

    def __init__(self, path: Path, mask: Mask) -> None:
        self._mask = mask
        self._started = time.monotonic()
        self._descriptor = _create(path)
        made = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._write(Header(recording=VERSION, made=made))

    def note(self, kind: Kind, **facts: Any) -> None:
        """Add an entry, without its secrets; nothing once the file is closed."""
        at = round(time.monotonic() - self._started, 6)
        self._write(Entry(at=at, kind=kind, **self._mask.value(facts)))

    def close(self) -> None:
        """Write nothing more."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):
            self.close()

    def _write(self, line: Header | Entry) -> None:
        if self._descriptor is None:
            return
        data = memoryview(msgspec.json.encode(line) + b"\n")
        while data:
            data = data[os.write(self._descriptor, data) :]


def _create(path: Path) -> int | None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(path, flags, 0o600)
        if os.name == "posix":
            # Whatever it was before.
            os.fchmod(descriptor, 0o600)
    except OSError as error:
        raise ScriptError(f"The recording cannot be written: {error}") from error
    return descriptor


def read_recording(path: Path) -> list[Entry]:
    """Read a recording. Raises ScriptError when it is none.

    A last line that is not whole was being written when the program died, and is left out.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ScriptError(f"The recording cannot be read: {error}") from error
    lines.pop()
    try:
        version = msgspec.json.decode(lines[0], type=Header).recording if lines else None
    except msgspec.MsgspecError as error:
        raise ScriptError(f"{path} is no recording: {error}") from error
    if version != VERSION:
        raise ScriptError(f"{path} is no recording that this version can read")
    return [_entry(path, number, line) for number, line in enumerate(lines[1:], 2)]


def _entry(path: Path, number: int, line: bytes) -> Entry:
    try:
        return _entry_decoder.decode(line)
    except msgspec.MsgspecError as error:
        raise ScriptError(f"Line {number} of {path} is no entry of a recording: {error}") from error
