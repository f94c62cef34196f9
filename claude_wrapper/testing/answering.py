"""From a request to its reply, by way of the script."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import unquote

import msgspec

from claude_wrapper.testing import lenient_json, replies
from claude_wrapper.testing.gates import Gate
from claude_wrapper.testing.http_messages import HttpRequest, chunked, reply_head
from claude_wrapper.testing.model_request import ModelRequest, Outcome
from claude_wrapper.testing.model_server import Answer
from claude_wrapper.testing.request_log import RequestLog
from claude_wrapper.testing.script import Ask, Choice, Message, Script
from claude_wrapper.testing.turns import Failure, Turn

__all__ = ["Answerer"]

_ask_decoder = msgspec.json.Decoder(Ask)

JSON = ("content-type", "application/json")
GATES = "/gates/"
EVENT_STREAM = ("content-type", "text/event-stream")


class Answerer:
    """Answers requests in the server's thread: notes each in the log, and misfits in `problems`."""

    def __init__(
        self, script: Callable[[], Script], log: RequestLog, gate: Callable[[str], Gate], problems: list[str]
    ) -> None:
        self._script = script
        self._log = log
        self._gate = gate
        self._problems = problems

    def answer(self, http: HttpRequest) -> Answer:
        request = ModelRequest(http.method, http.path, http.headers, http.body, time.time())
        if http.method != "POST":
            return self._probe(request)
        if "count_tokens" in http.path:
            request.kind = "tokens"
            tokens = max(1, len(http.body) // 4)
            return self._whole(request, 200, lenient_json.encode({"input_tokens": tokens}))
        if http.path.startswith(GATES):
            return self._open_gate(unquote(http.path.removeprefix(GATES)))
        if not http.path.startswith("/v1/messages"):
            return self._refuse(request, Failure(status=404, error="not_found_error", message=http.path))
        try:
            ask = _read_ask(http.body)
            choice = self._script().choose(ask, request)
            return self._play(request, ask, choice, chunks=http.reads_chunks)
        except Exception as error:  # noqa: BLE001  # a script may hold functions of the test, which fail as they like
            request.kind = "turn" if request.kind == "other" else request.kind
            return self._misfit(request, f"{type(error).__name__}: {error}")

    def _play(self, request: ModelRequest, ask: Ask, choice: Choice, *, chunks: bool) -> Answer:
        request.kind, request.list_name = choice.kind, choice.list_name
        turn = choice.answer
        if turn is None:
            return self._misfit(request, f"the script has no turn left for request {request.path}")
        if isinstance(turn, Failure):
            return self._refuse(request, turn)
        if turn.whole is not None:
            return self._raw(request, turn)
        message = replies.message_of(turn, ask.model)
        before = _stops_before(turn)
        if not ask.stream:
            return self._whole(request, 200, lenient_json.encode(message), turn.headers, before)
        # A broken off reply has no length and no chunks, so that its end is no fault of HTTP.
        framed = chunks and turn.ending is None
        length = ("transfer-encoding", "chunked") if framed else ("connection", "close")
        head = reply_head(200, [EVENT_STREAM, length, *turn.headers])
        body = replies.events(turn, message)
        steps = itertools.chain(before, [head], replies.framed(body, chunked) if framed else body)
        return self._noted(request, steps, "cut" if turn.ending else "sent", closes=not framed)

    def _raw(self, request: ModelRequest, turn: Turn) -> Answer:
        assert turn.whole is not None
        whole = turn.whole
        before = _stops_before(turn)
        if whole.bare:
            return self._noted(request, itertools.chain(before, [whole.body]), "sent", closes=True)
        kind = ("content-type", whole.content_type)
        return self._whole(request, whole.status, whole.body, (kind, *turn.headers), before)

    def _whole(
        self,
        request: ModelRequest,
        status: int,
        body: bytes,
        headers: Sequence[tuple[str, str]] = (),
        before: Sequence[replies.Step] = (),
    ) -> Answer:
        """A reply with a length, JSON unless the headers say otherwise."""
        kind = [] if any(name.lower() == "content-type" for name, _ in headers) else [JSON]
        head = reply_head(status, [*kind, ("content-length", str(len(body))), *headers])
        outcome: Outcome = "sent" if status < 400 else "failed"
        return self._noted(request, itertools.chain(before, [head + body]), outcome)

    def _refuse(self, request: ModelRequest, failure: Failure) -> Answer:
        return self._whole(request, failure.status, replies.error_body(failure), failure.headers)

    def _misfit(self, request: ModelRequest, problem: str) -> Answer:
        """Tell the client and the test that the script does not fit; a status that nobody retries."""
        self._problems.append(problem)
        return self._refuse(request, Failure(status=400, error="invalid_request_error", message=problem))

    def _probe(self, request: ModelRequest) -> Answer:
        if request.method == "HEAD":
            return self._noted(request, iter([reply_head(200, [("content-length", "0")])]), "sent")
        return self._refuse(request, Failure(status=404, error="not_found_error", message=request.path))

    def _open_gate(self, name: str) -> Answer:
        """A word of the test to the model, and so no entry of the log."""
        self._gate(name).release()
        return Answer(iter([reply_head(200, [("content-length", "0")])]), closes=False, over=lambda _: None)

    def _noted(
        self, request: ModelRequest, steps: Iterator[replies.Step], outcome: Outcome, *, closes: bool = False
    ) -> Answer:
        self._log.add(request)

        def over(complete: bool) -> None:
            request.outcome = outcome if complete else "abandoned"
            request.end.happen()

        return Answer(steps, closes, over)


def _read_ask(body: bytes) -> Ask:
    try:
        return _ask_decoder.decode(body)
    except msgspec.DecodeError:
        return _read_odd_ask(body)


def _read_odd_ask(body: bytes) -> Ask:
    """What can be made out of a request that is not quite one of the Messages API."""
    try:
        value = lenient_json.decode(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return Ask()
    ask = Ask(model=str(value.get("model", "m")), stream=value.get("stream") is True)
    ask.tools = [msgspec.Raw(b"{}")] if value.get("tools") else None
    messages = value.get("messages")
    for message in messages if isinstance(messages, list) else ():
        with contextlib.suppress(msgspec.ValidationError):
            ask.messages.append(msgspec.convert(message, Message))
    return ask


def _stops_before(turn: Turn) -> list[replies.Step]:
    """What makes the reply wait before its head."""
    stops: list[replies.Step] = [replies.Pause(turn.delay)] if turn.delay else []
    return stops + [replies.Halt(hold.gate) for hold in turn.holds if hold.block < 0]
