"""The requests that the scripted model has seen, in order, for tests to look at and wait for."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import BinaryIO

import msgspec

from claude_wrapper.testing.gates import Moment
from claude_wrapper.testing.model_request import ModelRequest, RequestKind

__all__ = ["RequestLog"]

SECRET_HEADERS = ("x-api-key", "authorization", "proxy-authorization", "cookie")


class RequestLog:
    """Every request; with a path each POST is also a line of that file, keys left out."""

    def __init__(self, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._entries: list[ModelRequest] = []
        self._awaited: dict[tuple[RequestKind, int], Moment] = {}
        self._path = path
        self._file: BinaryIO | None = None

    def add(self, request: ModelRequest) -> None:
        """Take note of a request whose kind is settled."""
        if self._path is not None and request.method == "POST":
            self._write(request, self._path)
        with self._lock:
            self._entries.append(request)
            count = sum(entry.kind == request.kind for entry in self._entries) if self._awaited else 0
            moment = self._awaited.pop((request.kind, count), None)
        if moment is not None:
            moment.happen()

    def entries(self, kind: RequestKind | None = None) -> list[ModelRequest]:
        """The requests so far, all or those of one kind."""
        with self._lock:
            return [entry for entry in self._entries if kind in (None, entry.kind)]

    def arrival(self, kind: RequestKind, number: int) -> Moment:
        """The moment at which the request of this kind and number (from 1) is there."""
        if number < 1:
            raise ValueError("requests are counted from 1")
        with self._lock:
            there = sum(entry.kind == kind for entry in self._entries)
            if number > there:
                what = f"request {number} of kind {kind!r} ({there} so far)"
                return self._awaited.setdefault((kind, number), Moment(what))
        moment = Moment(f"request {number}")
        moment.happen()
        return moment

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _write(self, request: ModelRequest, path: Path) -> None:
        if self._file is None:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._file = os.fdopen(descriptor, "ab")
        shown = {
            name: "<hidden>" if name.lower() in SECRET_HEADERS else value
            for name, value in request.header_list
        }
        line = {
            "t": request.time,
            "path": request.path,
            "headers": shown,
            "body": _one_line(request.raw_body),
        }
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()


def _one_line(body: bytes) -> msgspec.Raw:
    """The body as it was sent where that is one line of JSON, else an empty object."""
    try:
        flat = msgspec.json.format(body, indent=-1) if b"\n" in body else body
        msgspec.json.decode(flat, type=msgspec.Raw)
    except msgspec.MsgspecError:
        return msgspec.Raw(b"{}")
    return msgspec.Raw(flat)
