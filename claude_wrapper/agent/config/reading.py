"""Reading a settings file, whatever lies in its place, without ever waiting for it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

import msgspec

from .faults import Fault

__all__ = ["MOST_BYTES", "Reading", "parsed", "read_settings"]

MOST_BYTES = 2 * 1024 * 1024
_decoder = msgspec.json.Decoder(dict[str, Any])
_AT_BYTE = re.compile(r" ?\(byte (\d+)\)")
_BOM = "\ufeff"
_REPLACED = "\ufffd"


class Reading(msgspec.Struct, frozen=True):
    """What a file says. Without `values` it says nothing, and `fault` tells why; without either it is not there."""

    values: dict[str, Any] | None = None
    text: str = ""
    fault: Fault | None = None
    lossy: bool = False
    """Some bytes of the file were no text."""


def read_settings(path: Path) -> Reading:
    """Read a file of settings."""
    try:
        data = _regular_bytes(path)
    except FileNotFoundError:
        return Reading()
    except OSError as error:
        return Reading(fault=Fault(str(path), f"it cannot be read: {error.strerror or error}"))
    if data is None:
        return Reading(fault=Fault(str(path), "it is no regular file of at most 2 MiB"))
    text = data.decode("utf-8", "replace").removeprefix(_BOM)
    if not text.strip():
        return Reading({}, text)
    reading = parsed(text, str(path))
    return msgspec.structs.replace(reading, lossy=_REPLACED in text and _REPLACED.encode() not in data)


def parsed(text: str, place: str) -> Reading:
    """The JSON object that a text is."""
    try:
        return Reading(_decoder.decode(text), text)
    except msgspec.ValidationError:
        return Reading(fault=Fault(place, "it is no JSON object"))
    except msgspec.DecodeError as error:
        message = str(error)
        at = _AT_BYTE.search(message)
        data = text.encode()
        # Without a place, the text ended too early.
        line = data[: int(at[1]) if at else len(data)].count(b"\n") + 1
        return Reading(fault=Fault(place, f"it is no JSON: {_AT_BYTE.sub('', message)}", line=line))
    except RecursionError:
        return Reading(fault=Fault(place, "it is nested too deeply"))


def _regular_bytes(path: Path) -> bytes | None:
    """The bytes of a regular file that is not too large, else None; raises OSError."""
    # A pipe without a writer would hold up whoever opens it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > MOST_BYTES:
            return None
        data = file.read(MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else None
