"""A scripted Messages API on loopback, with real sockets, and a client for it."""

import asyncio
import json
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
import pytest

from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.api.catalog import find_model
from claude_wrapper.agent.api.client import ModelClient
from claude_wrapper.agent.api.endpoint import Endpoint
from claude_wrapper.agent.api.items import RawEvent
from claude_wrapper.agent.api.request import ModelRequest
from claude_wrapper.agent.api.retry import RetryPolicy
from claude_wrapper.agent.api.transport import Timeouts
from claude_wrapper.agent.api.tuning import tune


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Gate:
    """Holds a response where it stands in the body, until it is opened or the client has gone."""

    def __init__(self):
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.client_left = asyncio.Event()

    async def hold(self, reader):
        self.reached.set()
        eof = asyncio.ensure_future(reader.read(1))
        opened = asyncio.ensure_future(self.opened.wait())
        await asyncio.wait({eof, opened}, return_when=asyncio.FIRST_COMPLETED)
        if eof.done():
            self.client_left.set()
        for waiting in (eof, opened):
            waiting.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await waiting
        return not self.client_left.is_set()


class Cut:
    """Ends the connection where it stands in the body: with a reset, or as if nothing was wrong."""

    def __init__(self, *, reset=False):
        self.reset = reset


@dataclass
class Step:
    """One scripted response. `framing` is how its end is known: chunked, length, or close."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    parts: list = field(default_factory=list)
    framing: str = "chunked"


@dataclass
class SeenRequest:
    """A request as it arrived."""

    target: str
    headers: dict
    raw: bytes
    connection: int

    @property
    def body(self):
        return json.loads(self.raw)


class ScriptedApi:
    """Answers requests by its steps, in order; the last one repeats."""

    def __init__(self):
        self.steps = []
        self.requests = []
        self.connections = 0
        self.port = 0
        self._server = None
        self._tasks = set()
        self._writers = set()

    @property
    def open_connections(self):
        return len(self._writers)

    def drop_connections(self):
        for writer in self._writers:
            writer.transport.abort()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    async def start(self, tls=None):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self):
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # What a script is made of.

    def add(self, *parts, status=200, content_type="text/event-stream", framing="chunked", **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.steps.append(Step(status, {"content-type": content_type, **named}, list(parts), framing))

    def say(self, text, **more):
        self.add(*self.events(self.text_block(0, text)), **more)

    def fail(self, status, error_type="api_error", message="mock", **headers):
        body = {"type": "error", "error": {"type": error_type, "message": message}}
        self.add(
            json.dumps(body).encode(),
            status=status,
            content_type="application/json",
            framing="length",
            **headers,
        )

    def hang_up(self, *, reset=True):
        """Accept the request and close the connection without a word."""
        self.steps.append(Cut(reset=reset))

    def say_nothing(self):
        """Accept the request and leave it at that."""
        self.steps.append(Gate())
        return self.steps[-1]

    @staticmethod
    def event(kind, **fields):
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()

    def start_event(self, message_id="msg_1", **usage):
        counts = {"input_tokens": 100, "output_tokens": 1, **usage}
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": counts,
        }
        return self.event("message_start", message=message)

    def open_text(self, index, text):
        return self.event(
            "content_block_start", index=index, content_block={"type": "text", "text": ""}
        ) + self.event("content_block_delta", index=index, delta={"type": "text_delta", "text": text})

    def text_block(self, index, text):
        return self.open_text(index, text) + self.event("content_block_stop", index=index)

    def tool_block(self, index, name, arguments):
        block = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": arguments}
        return (
            self.event("content_block_start", index=index, content_block=block)
            + self.event("content_block_delta", index=index, delta=delta)
            + self.event("content_block_stop", index=index)
        )

    def end_events(self, stop_reason="end_turn", **usage):
        delta = {"stop_reason": stop_reason, "stop_sequence": None}
        counts = {"output_tokens": 20, **usage}
        return self.event("message_delta", delta=delta, usage=counts) + self.event("message_stop")

    def events(self, *blocks, message_id="msg_1", stop_reason="end_turn"):
        return [self.start_event(message_id), *blocks, self.end_events(stop_reason)]

    def message(self, text, message_id="msg_whole"):
        return json.dumps(
            {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 100, "output_tokens": 20},
            }
        ).encode()

    # How it is played.

    async def _serve(self, reader, writer):
        self._tasks.add(asyncio.current_task())
        self._writers.add(writer)
        self.connections += 1
        connection = self.connections
        try:
            while await self._answer(reader, writer, connection):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._tasks.discard(asyncio.current_task())
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, reader, writer, connection):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        step = self.steps[min(len(self.requests), len(self.steps) - 1)]
        self.requests.append(SeenRequest(first.split(" ")[1], headers, raw, connection))
        if isinstance(step, Cut):
            self._drop(writer, step)
            return False
        if isinstance(step, Gate):
            return await step.hold(reader)
        return await self._play(step, reader, writer)

    async def _play(self, step, reader, writer):
        headers = dict(step.headers)
        if step.framing == "chunked":
            headers["transfer-encoding"] = "chunked"
        elif step.framing == "length":
            headers["content-length"] = str(sum(len(part) for part in step.parts))
        else:
            headers["connection"] = "close"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {step.status} Scripted\r\n{lines}\r\n".encode("latin-1"))
        for part in step.parts:
            if isinstance(part, Cut):
                await writer.drain()
                self._drop(writer, part)
                return False
            if isinstance(part, Gate):
                await writer.drain()
                if not await part.hold(reader):
                    return False
            else:
                writer.write(b"%x\r\n%b\r\n" % (len(part), part) if step.framing == "chunked" else part)
        if step.framing == "chunked":
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return step.framing != "close"

    @staticmethod
    def _drop(writer, cut):
        if cut.reset:
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        else:
            writer.close()


@pytest.fixture
def gate():
    return Gate


@pytest.fixture
def cut():
    return Cut


@pytest.fixture
async def new_api():
    started = []

    async def start(tls=None):
        api = ScriptedApi()
        await api.start(tls)
        started.append(api)
        return api

    yield start
    for api in started:
        await api.stop()


@pytest.fixture
async def api(new_api):
    return await new_api()


@pytest.fixture
async def new_client(api):
    made = []

    def make(url=None, key="sk-test-key", retries=2, unstreamed=True, **timeouts):
        endpoint = Endpoint(base_url=url or api.url, api_key=key)
        policy = RetryPolicy(max_retries=retries, first_delay=0.01, unstreamed=unstreamed)
        client = ModelClient(endpoint, policy, Timeouts(**timeouts))
        made.append(client)
        return client

    yield make
    for client in made:
        await client.aclose()


@pytest.fixture
def client(new_client):
    return new_client()


@pytest.fixture
def new_request():
    def make(prompt="Go", model="claude-sonnet-4-5", **fields):
        found = find_model(model)
        fields.setdefault("tuning", tune(found))
        fields.setdefault("messages", [{"role": "user", "content": prompt}])
        return ModelRequest(model=found, **fields)

    return make


@pytest.fixture
def collect():
    """Everything that a request gives out, and the error that it ends in, if it does."""

    async def run(client, request, on_item=None):
        items = []
        with anyio.fail_after(40):
            async with client.stream(request) as stream:
                try:
                    async for item in stream:
                        items.append(item)
                        if on_item is not None:
                            on_item(item)
                except ApiError as error:
                    return items, error
        return items, None

    return run


@pytest.fixture
def kinds():
    """The kinds of the items that are no raw events, in order."""

    def name(items):
        return [type(item).__name__ for item in items if not isinstance(item, RawEvent)]

    return name
