"""Bodies of control requests and replies: raw JSON to structs, told apart by `subtype`."""

from __future__ import annotations

from functools import cache
from typing import Any, Generic, TypeVar, get_args

import msgspec

from claude_wrapper.errors import MessageParseError

from .codec import UNREADABLE, decode_object

__all__ = ["BadRequest", "BodyDecoder", "UnknownRequest", "decode_reply", "decode_request"]

T = TypeVar("T")


class UnknownRequest:
    """A request of a subtype that has no struct here, kept whole."""

    __slots__ = ("raw", "subtype")

    def __init__(self, subtype: str, raw: dict[str, Any]) -> None:
        self.subtype = subtype
        self.raw = raw


class BadRequest:
    """A body that is no request, or one whose fields are missing or of another shape."""

    __slots__ = ("error", "subtype")

    def __init__(self, subtype: str | None, error: Exception) -> None:
        self.subtype = subtype
        self.error = error


class BodyDecoder(Generic[T]):
    """Decodes the raw bodies of one direction. Nothing raises, so that every request can be answered."""

    def __init__(self, bodies: Any) -> None:
        self._bodies = bodies
        self._decode = msgspec.json.Decoder(bodies).decode
        members = get_args(bodies) or (bodies,)
        self._subtypes = frozenset(member.__struct_config__.tag for member in members)

    def decode(self, raw: bytes) -> T | UnknownRequest | BadRequest:
        """Decode one body."""
        try:
            body: T = self._decode(raw)
            return body
        except UNREADABLE:
            return self._second_look(raw)

    def _second_look(self, raw: bytes) -> T | UnknownRequest | BadRequest:
        try:
            fields = decode_object(raw)
        except msgspec.DecodeError as error:
            return BadRequest(None, error)
        subtype = fields.get("subtype")
        if not isinstance(subtype, str):
            return BadRequest(None, ValueError("the request has no subtype"))
        if subtype not in self._subtypes:
            return UnknownRequest(subtype, fields)
        try:
            body: T = msgspec.convert(fields, self._bodies)
            return body
        except msgspec.ValidationError as error:
            return BadRequest(subtype, error)


def decode_request(raw: bytes, bodies: Any) -> Any:
    """Decode the raw body of a request: one of the union `bodies`, an UnknownRequest or a BadRequest."""
    return _decoder(bodies).decode(raw)


def decode_reply(raw: bytes | None, kind: type[T]) -> T:
    """Decode the raw body of a reply, None standing for an empty one; raises MessageParseError."""
    try:
        return msgspec.convert({} if raw is None else decode_object(raw), kind)
    except msgspec.DecodeError as error:
        raise MessageParseError(f"The answer is no {getattr(kind, '__name__', kind)}: {error}") from error


@cache
def _decoder(bodies: Any) -> BodyDecoder[Any]:
    return BodyDecoder(bodies)
