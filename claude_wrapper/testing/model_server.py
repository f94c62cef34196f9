"""The socket side of the scripted model: connections on 127.0.0.1, served by an event loop in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from claude_wrapper.testing.faults import ScriptError, ScriptTimeoutError
from claude_wrapper.testing.gates import Gate
from claude_wrapper.testing.http_messages import BadRequestError, HttpRequest, RequestReader, reply_head
from claude_wrapper.testing.replies import Finish, Pause, Step, Stop

__all__ = ["Answer", "ModelServer"]

LOOPBACK = "127.0.0.1"
START_LIMIT = 10.0
STOP_LIMIT = 10.0


class Answer(NamedTuple):
    """What goes back for a request, and who wants to know how that ended."""

    steps: Iterator[Step]
    closes: bool
    """The connection ends with the reply."""
    over: Callable[[bool], None]
    """Told once whether the reply was played to its end."""


class Backend(NamedTuple):
    """What the connections ask for."""

    answer: Callable[[HttpRequest], Answer]
    gate: Callable[[str], Gate]
    complain: Callable[[str], None]
    hold_limit: float


class _Connection(asyncio.Protocol):
    def __init__(self, backend: Backend, everyone: set[_Connection]) -> None:
        self._backend = backend
        self._everyone = everyone
        self._reader = RequestReader()
        self._waiting: deque[HttpRequest] = deque()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._everyone.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._everyone.discard(self)
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        try:
            while (request := self._reader.next()) is not None:
                self._waiting.append(request)
        except BadRequestError as error:
            body = str(error).encode()
            self._transport.write(reply_head(400, [("content-length", str(len(body)))]) + body)
            self._transport.close()
            return
        if self._reader.awaits_continue:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._serve()

    def abort(self) -> None:
        """Drop the connection, whatever it was doing."""
        self._transport.abort()

    def _serve(self) -> None:
        """Answer the complete requests in order, as far as that needs no waiting."""
        while self._waiting and self._task is None and not self._transport.is_closing():
            request = self._waiting.popleft()
            answer = self._backend.answer(request)
            stop = self._send(answer)
            closes = answer.closes or not request.keeps_alive
            if stop is None:
                answer.over(True)
                self._close_if(closes)
            else:
                self._task = asyncio.get_running_loop().create_task(self._go_on(answer, stop, closes))

    def _send(self, answer: Answer) -> Stop | None:
        """Send up to the next step that is no bytes, and return that step."""
        parts: list[bytes] = []
        stop: Stop | None = None
        for step in answer.steps:
            if not isinstance(step, bytes):
                stop = step
                break
            parts.append(step)
        self._transport.write(b"".join(parts))
        return stop

    async def _go_on(self, answer: Answer, stop: Stop | None, closes: bool) -> None:
        """Play the rest of a reply that stops in between."""
        complete = False
        try:
            while stop is not None:
                await self._stand_still(stop)
                stop = None if isinstance(stop, Finish) else self._send(answer)
            complete = True
        except ScriptTimeoutError as error:
            self._backend.complain(str(error))
            self._transport.abort()
        finally:
            self._task = None
            answer.over(complete)
        self._close_if(closes)
        self._serve()

    async def _stand_still(self, stop: Stop) -> None:
        if isinstance(stop, Finish):
            self._end(stop)
        elif isinstance(stop, Pause):
            await asyncio.sleep(stop.seconds)
        else:
            gate = self._backend.gate(stop.gate)
            gate.arrival.happen()
            await gate.opening.reached(self._backend.hold_limit)

    def _close_if(self, closes: bool) -> None:
        if closes:
            self._transport.close()

    def _end(self, finish: Finish) -> None:
        if finish.how == "reset":
            raw = self._transport.get_extra_info("socket")
            # A linger time of zero makes the system send a reset in place of an orderly end.
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            self._transport.abort()
        else:
            self._transport.close()


class ModelServer:
    """Listens on a port of 127.0.0.1 from `start()` to `stop()`; both may be called from any thread."""

    def __init__(self, backend: Backend, port: int = 0) -> None:
        self._backend = backend
        self._wanted_port = port
        self._connections: set[_Connection] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopping: asyncio.Event | None = None
        self.port = 0

    def start(self) -> None:
        """Listen. When this returns, connections are accepted."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((LOOPBACK, self._wanted_port))
            listener.listen(1024)
            listener.setblocking(False)
        except OSError as error:
            listener.close()
            raise ScriptError(f"cannot listen on {LOOPBACK}:{self._wanted_port}: {error.strerror}") from error
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(listener, ready), name=f"scripted model :{self.port}", daemon=True
        )
        self._thread.start()
        if not ready.wait(START_LIMIT):
            raise ScriptError("the thread of the scripted model did not start")

    def stop(self) -> None:
        """Close the port and every connection."""
        thread, self._thread = self._thread, None
        if thread is None or self._loop is None or self._stopping is None:
            return
        with contextlib.suppress(RuntimeError):  # the loop has ended by itself
            self._loop.call_soon_threadsafe(self._stopping.set)
        thread.join(STOP_LIMIT)
        if thread.is_alive():
            raise ScriptError("the thread of the scripted model did not end")

    def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        asyncio.run(self._serve(listener, ready))

    async def _serve(self, listener: socket.socket, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        server = await self._loop.create_server(
            lambda: _Connection(self._backend, self._connections), sock=listener, backlog=1024
        )
        ready.set()
        await self._stopping.wait()
        server.close()
        for connection in list(self._connections):
            connection.abort()
        # A turn of the loop lets the connections learn of their end before the loop goes.
        await asyncio.sleep(0)
