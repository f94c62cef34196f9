"""JSON that may hold lone surrogates, which a peer under test is allowed to get wrong."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["decode", "encode", "spaced"]

_encode = msgspec.json.encode
_decode = msgspec.json.decode


def encode(value: Any) -> bytes:
    """The value as JSON; a lone surrogate is written as its escape."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        import json  # noqa: PLC0415, TID251  # msgspec has no way to write a lone surrogate

        return json.dumps(value, separators=(",", ":")).encode()


def decode(data: bytes) -> Any:
    """The value that the JSON text stands for; raises ValueError when it is none."""
    try:
        return _decode(data)
    except msgspec.DecodeError:
        import json  # noqa: PLC0415, TID251  # msgspec refuses the escape of a lone surrogate

        return json.loads(data.decode("utf-8", "surrogatepass"))


def spaced(data: bytes) -> bytes:
    """The JSON text with a space behind each comma and colon, the way models write it."""
    try:
        return msgspec.json.format(data, indent=0)
    except msgspec.DecodeError:  # a lone surrogate again
        return data
