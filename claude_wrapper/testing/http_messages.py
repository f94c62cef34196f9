"""HTTP/1.1 as far as a test server needs it: requests out of bytes, reply heads into bytes. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import NamedTuple

__all__ = ["BadRequestError", "HttpRequest", "RequestReader", "chunked", "reply_head"]

MAX_HEAD = 64 * 1024
MAX_BODY = 256 * 1024 * 1024


class BadRequestError(Exception):
    """The bytes are no request that this server reads."""


class HttpRequest(NamedTuple):
    """One complete request."""

    method: str
    path: str
    version: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def keeps_alive(self) -> bool:
        """Whether the client means to send another request over the connection."""
        connection = _header(self.headers, "connection").lower()
        if self.version == "HTTP/1.0":
            return connection == "keep-alive"
        return connection != "close"

    @property
    def reads_chunks(self) -> bool:
        """Whether the reply may be sent in chunks."""
        return self.version != "HTTP/1.0"


class RequestReader:
    """Takes bytes as they come and gives the requests that are complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._head: HttpRequest | None = None
        self._length: int | None = 0
        self._chunks: list[bytes] = []
        self._size = 0
        self._searched = 0

    def feed(self, data: bytes) -> None:
        """Take bytes that arrived."""
        self._buffer += data

    def next(self) -> HttpRequest | None:
        """The next complete request, or None until more bytes are there."""
        if self._head is None and not self._read_head():
            return None
        body = self._read_body()
        if body is None or self._head is None:
            return None
        request, self._head = self._head._replace(body=body), None
        return request

    @property
    def awaits_continue(self) -> bool:
        """Whether the client holds its body back until it is told to go on; True once a request."""
        if self._head is None or _header(self._head.headers, "expect").lower() != "100-continue":
            return False
        kept = [(name, value) for name, value in self._head.headers if name.lower() != "expect"]
        self._head = self._head._replace(headers=kept)
        return True

    def _read_head(self) -> bool:
        while self._buffer.startswith(b"\r\n"):
            del self._buffer[:2]
        end = self._buffer.find(b"\r\n\r\n", max(0, self._searched - 3))
        if end < 0:
            self._searched = len(self._buffer)
            if self._searched > MAX_HEAD:
                raise BadRequestError("the head is too long")
            return False
        self._searched = 0
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        method, path, version = _request_line(lines[0])
        headers = [_header_line(line) for line in lines[1:]]
        self._head = HttpRequest(method, path, version, headers, b"")
        self._length = _length(headers)
        self._chunks, self._size = [], 0
        return True

    def _read_body(self) -> bytes | None:
        if self._length is None:
            return self._read_chunks()
        if len(self._buffer) < self._length:
            return None
        body = bytes(memoryview(self._buffer)[: self._length])
        del self._buffer[: self._length]
        return body

    def _read_chunks(self) -> bytes | None:
        while (end := self._buffer.find(b"\r\n")) >= 0:
            size = _number(self._buffer[:end].split(b";")[0].decode("latin-1"), 16)
            if self._size + size > MAX_BODY:
                raise BadRequestError("the body is too long")
            if len(self._buffer) < end + 2 + size + 2:
                return None
            self._chunks.append(bytes(memoryview(self._buffer)[end + 2 : end + 2 + size]))
            self._size += size
            del self._buffer[: end + 2 + size + 2]
            if size == 0:
                return b"".join(self._chunks)
        return None


def reply_head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    """A status line with headers, up to the body."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Scripted"
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {status} {phrase}\r\n{lines}\r\n".encode("latin-1")


def chunked(data: bytes) -> bytes:
    """The bytes as one chunk of a body without a known length; none at all end the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _request_line(line: str) -> tuple[str, str, str]:
    parts = line.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadRequestError("no HTTP/1 request line")
    return parts[0], parts[1], parts[2]


def _header_line(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BadRequestError("a header line without a name")
    return name, value.strip()


def _length(headers: list[tuple[str, str]]) -> int | None:
    """The length of the body; None when it comes in chunks."""
    if "chunked" in _header(headers, "transfer-encoding").lower():
        return None
    length = _number(_header(headers, "content-length") or "0", 10)
    if length > MAX_BODY:
        raise BadRequestError("the body is too long")
    return length


def _number(text: str, base: int) -> int:
    try:
        number = int(text.strip(), base)
    except ValueError:
        number = -1
    if number < 0:
        raise BadRequestError("a length that is no number")
    return number


def _header(headers: list[tuple[str, str]], name: str) -> str:
    found = (value for key, value in headers if key.lower() == name)
    return next(found, "")
