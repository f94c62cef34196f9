"""Lines to frames and back: the one place where bytes get and lose their types."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, get_args

import msgspec

from .framing import Line, OversizeLine
from .salvage import keep_unknown_blocks

__all__ = [
    "UNREADABLE",
    "BadFrame",
    "FrameDecoder",
    "MalformedLine",
    "UnknownFrame",
    "clean_json",
    "decode_object",
    "encode",
    "encode_line",
]

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_object_decoder = msgspec.json.Decoder(dict[str, Any])

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises: bad JSON, another shape, bad text (in older msgspec), or nesting without end."""

# Left to right over all escapes, so that an escaped backslash before a `u` is not mistaken for one.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)


class UnknownFrame:
    """A frame of a type, or a system frame of a subtype, that has no struct here; kept whole."""

    __slots__ = ("raw", "type")

    def __init__(self, type_: str, raw: dict[str, Any]) -> None:
        self.type = type_
        self.raw = raw


class BadFrame:
    """JSON that is no proper frame: a known type whose fields are missing or of another shape."""

    __slots__ = ("error", "raw", "type")

    def __init__(self, type_: str | None, raw: dict[str, Any], error: Exception) -> None:
        self.type = type_
        self.raw = raw
        self.error = error


class MalformedLine:
    """A line that is no JSON object at all, or one that was too long to be read."""

    __slots__ = ("error", "line", "size")

    def __init__(self, line: bytes, error: Exception, size: int | None = None) -> None:
        self.line = line
        self.error = error
        self.size = len(line) if size is None else size


class FrameDecoder(Generic[T]):
    """Decodes lines into the frames of one direction.

    `frames` is a union of structs told apart by one tag. Nothing raises: what is not a frame of
    the union comes back as UnknownFrame, BadFrame or MalformedLine, in its place.
    """

    def __init__(self, frames: Any) -> None:
        self._frames = frames
        self.decode_strict = msgspec.json.Decoder(frames).decode
        members = get_args(frames) or (frames,)
        self._tag_field = members[0].__struct_config__.tag_field
        self._tags = frozenset(member.__struct_config__.tag for member in members)

    def decode_batch(self, lines: Sequence[Line]) -> list[T | UnknownFrame | BadFrame | MalformedLine]:
        """Decode lines in order; blank ones are dropped."""
        frames: list[T | UnknownFrame | BadFrame | MalformedLine] = []
        decoded: Iterator[T] = map(self.decode_strict, lines)  # type: ignore[arg-type]  # an OversizeLine raises, as a bad line does
        blank = 0
        while not _extend(frames, decoded):
            line = lines[len(frames) + blank]
            if _is_blank(line):
                blank += 1
            else:
                frames.append(self.decode(line))
        return frames

    def decode(self, line: Line) -> T | UnknownFrame | BadFrame | MalformedLine:
        """Decode one line that is not blank."""
        if isinstance(line, OversizeLine):
            return MalformedLine(
                line.head, ValueError(f"the line has {line.size:,} bytes, over the limit"), line.size
            )
        try:
            frame: T = self.decode_strict(line)
            return frame
        except UNREADABLE as error:
            return self._second_look(line, error)

    def _second_look(self, line: bytes, error: Exception) -> T | UnknownFrame | BadFrame | MalformedLine:
        """Find out what a line is, as it came and then without what programs put into lines by mistake."""
        frame = self._sort(line)
        if frame is None:
            frame = self._sort(clean_json(line[max(line.find(b"{"), 0) :]))
        return MalformedLine(line, error) if frame is None else frame

    def _sort(self, text: bytes) -> T | UnknownFrame | BadFrame | None:
        """Decode a text that may be anything; None where it is no JSON object."""
        try:
            frame: T = self.decode_strict(text)
            return frame
        except msgspec.ValidationError as reason:
            error = reason
        except UNREADABLE:
            return None
        try:
            raw = _object_decoder.decode(text)
        except UNREADABLE:
            return None
        return self._unfit(raw, error)

    def _unfit(self, raw: dict[str, Any], error: Exception) -> T | UnknownFrame | BadFrame:
        """Sort an object that is not one of the frames."""
        type_, tag = raw.get("type"), raw.get(self._tag_field)
        if not isinstance(type_, str):
            return BadFrame(None, raw, error)
        if not isinstance(tag, str):
            return BadFrame(type_, raw, error)
        if tag not in self._tags:
            return UnknownFrame(type_, raw)
        frame: T | None = keep_unknown_blocks(raw, self._frames)
        return BadFrame(type_, raw, error) if frame is None else frame


def decode_object(line: bytes) -> dict[str, Any]:
    """Decode a JSON object into a dict; raises msgspec.DecodeError."""
    try:
        return _object_decoder.decode(line)
    except UNREADABLE:
        line = bytes(line)  # a Raw is no bytes to slice
    try:
        return _object_decoder.decode(clean_json(line[max(line.find(b"{"), 0) :]))
    except RecursionError as error:
        raise msgspec.DecodeError("the JSON is nested too deeply") from error


def clean_json(text: bytes) -> bytes:
    """Replace bytes that are no UTF-8 and escapes that are half a surrogate pair by U+FFFD."""
    text = text.decode("utf-8", "replace").encode()
    return _ESCAPE.sub(lambda m: b"\\ufffd" if len(m[0]) == 6 and m[0][1:2] == b"u" else m[0], text)


def encode(value: Any) -> bytes:
    """Encode a frame, or any JSON value, as one line's bytes without the newline."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_valid_text(value))


def encode_line(frame: Any) -> bytes:
    """Encode a frame as a line, with its newline."""
    return encode(frame) + b"\n"


def _valid_text(value: Any) -> Any:
    """Copy a value with lone surrogates replaced, since they have no UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_valid_text(item) for item in value]
    if isinstance(value, dict):
        return {_valid_text(key): _valid_text(item) for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        # Field by field: a Raw inside stays as it is, which `msgspec.to_builtins` would refuse.
        return msgspec.structs.replace(
            value, **{name: _valid_text(getattr(value, name)) for name in value.__struct_fields__}
        )
    return value


def _extend(frames: list[Any], decoded: Iterator[Any]) -> bool:
    """Take over what decodes; False at a line that does not, which is neither taken nor still to come.

    The cycle collector rests meanwhile: it would run every few hundred objects and find nothing.
    """
    pause = gc.isenabled()
    if pause:
        gc.disable()
    try:
        frames.extend(decoded)
    except (*UNREADABLE, TypeError):
        return False
    finally:
        if pause:
            gc.enable()
    return True


def _is_blank(line: Line) -> bool:
    return isinstance(line, bytes) and (not line or line.isspace())
