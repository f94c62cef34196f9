"""Lines to frames and back: the one place where bytes get and lose their types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Generic, TypeVar, get_args

import msgspec

from .framing import Line, OversizeLine

__all__ = [
    "BadFrame",
    "FrameDecoder",
    "MalformedLine",
    "UnknownFrame",
    "decode_object",
    "encode",
    "encode_line",
]

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_object_decoder = msgspec.json.Decoder(dict[str, Any])

# Left to right over all escapes, so that an escaped backslash before a `u` is not mistaken for one.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\."
)


class UnknownFrame:
    """A frame of a type that this version has no struct for, kept whole."""

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

    `frames` is a union of structs told apart by `type`. Nothing raises: what is not a frame of
    the union comes back as UnknownFrame, BadFrame or MalformedLine, in its place.
    """

    def __init__(self, frames: Any) -> None:
        self._decoder = msgspec.json.Decoder(frames)
        self.decode_strict = self._decoder.decode
        self._types = frozenset(_tags(frames))

    def decode_batch(self, lines: Sequence[Line]) -> list[T | UnknownFrame | BadFrame | MalformedLine]:
        """Decode lines in order; blank ones are dropped."""
        try:
            return list(map(self.decode_strict, lines))  # type: ignore[arg-type]  # an OversizeLine raises, as a bad line does
        except (msgspec.DecodeError, TypeError):
            return [self.decode(line) for line in lines if not _is_blank(line)]

    def decode(self, line: Line) -> T | UnknownFrame | BadFrame | MalformedLine:
        """Decode one line that is not blank."""
        if isinstance(line, OversizeLine):
            return MalformedLine(
                line.head, ValueError(f"the line has {line.size:,} bytes, over the limit"), line.size
            )
        try:
            frame: T = self.decode_strict(line)
            return frame
        except msgspec.ValidationError as error:
            return self._unfit(line, error)
        except msgspec.DecodeError as error:
            return self._repaired(line, error)

    def _unfit(self, line: bytes, error: Exception) -> UnknownFrame | BadFrame | MalformedLine:
        """Sort a line that is JSON but not one of the frames."""
        try:
            raw = _object_decoder.decode(line)
        except msgspec.DecodeError as reason:
            return MalformedLine(line, reason)
        type_ = raw.get("type")
        if isinstance(type_, str) and type_ not in self._types:
            return UnknownFrame(type_, raw)
        return BadFrame(type_ if isinstance(type_, str) else None, raw, error)

    def _repaired(self, line: bytes, error: Exception) -> T | UnknownFrame | BadFrame | MalformedLine:
        """Try once more without what programs are known to put into a line by mistake."""
        start = line.find(b"{")
        if start < 0:
            return MalformedLine(line, error)
        text = clean_json(line[start:])
        try:
            frame: T = self.decode_strict(text)
            return frame
        except msgspec.ValidationError as reason:
            return self._unfit(text, reason)
        except msgspec.DecodeError:
            return MalformedLine(line, error)


def decode_object(line: bytes) -> dict[str, Any]:
    """Decode a JSON object into a dict; raises msgspec.DecodeError."""
    try:
        return _object_decoder.decode(line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return _object_decoder.decode(clean_json(line[max(line.find(b"{"), 0) :]))


def clean_json(text: bytes) -> bytes:
    """Replace bytes that are no UTF-8 and escapes that are half a surrogate pair by U+FFFD."""
    text = text.decode("utf-8", "replace").encode()
    return _ESCAPE.sub(lambda m: b"\\ufffd" if len(m[0]) == 6 and m[0][1:2] == b"u" else m[0], text)


def encode(value: Any) -> bytes:
    """Encode a frame, or any JSON value, as one line's bytes without the newline."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_valid_text(msgspec.to_builtins(value)))


def encode_line(frame: Any) -> bytes:
    """Encode a frame as a line, with its newline."""
    return encode(frame) + b"\n"


def _valid_text(value: Any) -> Any:
    """Copy builtins with lone surrogates replaced, since they have no UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_valid_text(item) for item in value]
    if isinstance(value, dict):
        return {_valid_text(key): _valid_text(item) for key, item in value.items()}
    return value


def _is_blank(line: Line) -> bool:
    return isinstance(line, bytes) and (not line or line.isspace())


def _tags(frames: Any) -> set[str]:
    members = get_args(frames) or (frames,)
    return {str(member.__struct_config__.tag) for member in members}
