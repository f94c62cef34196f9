import contextlib
import itertools

import anyio
import msgspec
import pytest

from claude_wrapper.errors import ControlError, ControlTimeoutError, ProcessError
from claude_wrapper.link.channel import ChannelClosedError, memory_channel_pair
from claude_wrapper.link.peer import Answer, ControlPeer, RequestRefusedError
from claude_wrapper.wire.codec import FrameDecoder
from claude_wrapper.wire.control import ControlCancelFrame, ControlRequestFrame, ControlResponseFrame
from claude_wrapper.wire.framing import LineSplitter

pytestmark = pytest.mark.anyio


class Ask(msgspec.Struct, tag_field="subtype", tag="ask"):
    value: int = 0


def number(raw):
    return msgspec.json.decode(raw)["value"]


class Side:
    """One program: a peer, its channel, and the loop that reads for it."""

    def __init__(self, channel, tasks, prefix, serve):
        ids = itertools.count()
        self.frames = []
        self.channel = channel
        self.peer = ControlPeer(channel.send, serve, tasks.start_soon, lambda: f"{prefix}{next(ids)}")
        tasks.start_soon(self._read)

    async def _read(self):
        splitter = LineSplitter()
        decoder = FrameDecoder(ControlRequestFrame | ControlResponseFrame | ControlCancelFrame)
        while chunk := await self.channel.receive():
            for frame in decoder.decode_batch(splitter.feed(chunk)):
                self.frames.append(frame)
                self.peer.receive(frame)
        self.peer.fail(ProcessError("the other side ended", 3))


@contextlib.asynccontextmanager
async def pair(serve):
    async def refuse(_id, _raw):
        raise RequestRefusedError("nothing is served here")

    with anyio.fail_after(40):
        async with anyio.create_task_group() as tasks:
            left, right = memory_channel_pair()
            yield Side(left, tasks, "l", refuse), Side(right, tasks, "r", serve)
            await left.aclose()
            await right.aclose()


async def test_a_request_is_answered_with_the_body_that_the_handler_returned():
    async def double(_id, raw):
        return {"value": number(raw) * 2}

    async with pair(double) as (asking, _):
        assert number(await asking.peer.request(Ask(21))) == 42


async def test_an_answer_without_a_body_is_none():
    async def nothing(_id, _raw):
        return None

    async with pair(nothing) as (asking, _):
        assert await asking.peer.request(Ask()) is None


async def test_answers_may_come_in_any_order():
    gates = [anyio.Event() for _ in range(3)]

    async def wait_for_gate(_id, raw):
        await gates[number(raw)].wait()
        return {"value": number(raw)}

    answers = []
    async with pair(wait_for_gate) as (asking, _):

        async def ask(i):
            answers.append(number(await asking.peer.request(Ask(i))))
            if i:
                gates[i - 1].set()

        async with anyio.create_task_group() as tasks:
            for i in range(3):
                tasks.start_soon(ask, i)
            gates[2].set()

    assert answers == [2, 1, 0]


async def test_a_failing_handler_costs_one_answer():
    async def fail_on_zero(_id, raw):
        if number(raw) == 0:
            raise ValueError("zero is not served")
        return {"value": number(raw)}

    async with pair(fail_on_zero) as (asking, _):
        with pytest.raises(ControlError, match="zero is not served"):
            await asking.peer.request(Ask(0))
        assert number(await asking.peer.request(Ask(1))) == 1


async def test_a_refusal_carries_its_code():
    async def refuse(_id, _raw):
        raise RequestRefusedError("no", code="not_served")

    async with pair(refuse) as (asking, _):
        with pytest.raises(ControlError, match="no"):
            await asking.peer.request(Ask())
        assert asking.frames[0].response.error_code == "not_served"


async def test_a_request_that_is_not_answered_in_time_is_withdrawn():
    cancelled = anyio.Event()

    async def never(_id, _raw):
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async with pair(never) as (asking, serving):
        with pytest.raises(ControlTimeoutError, match=r"'ask' within 0\.01 seconds"):
            await asking.peer.request(Ask(), timeout=0.01)
        await cancelled.wait()
        assert [type(f) for f in serving.frames] == [ControlRequestFrame, ControlCancelFrame]
        assert asking.frames == [], "a withdrawn request gets no answer"


async def test_a_cancelled_caller_withdraws_its_request():
    started, cancelled = anyio.Event(), anyio.Event()

    async def never(_id, _raw):
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async with pair(never) as (asking, _):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asking.peer.request, Ask())
            await started.wait()
            tasks.cancel_scope.cancel()
        await cancelled.wait()
        assert asking.peer.waiting == 0


async def test_a_cancellation_right_behind_its_request_finds_it():
    async def never(_id, _raw):
        await anyio.sleep_forever()

    async with pair(never) as (_, serving):
        serving.peer.receive(ControlRequestFrame(request_id="x", request=msgspec.Raw(b"{}")))
        serving.peer.receive(ControlCancelFrame(request_id="x"))
        while serving.peer.serving:
            await anyio.lowlevel.checkpoint()


async def test_the_end_of_the_other_side_fails_what_waits_and_what_comes_with_the_same_error():
    async def never(_id, _raw):
        await anyio.sleep_forever()

    errors = []
    async with pair(never) as (asking, serving):

        async def ask():
            try:
                await asking.peer.request(Ask())
            except ProcessError as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await serving.channel.aclose()
        await ask()
        serving.peer.cancel_serving()

    assert [e.exit_code for e in errors] == [3, 3, 3]
    assert len(set(map(id, errors))) == 1


async def test_what_an_answer_wants_done_happens_after_it_was_sent():
    order = []

    async def answer(_id, _raw):
        async def then():
            order.append("then")

        return Answer({"value": 1}, then=then, pending_permission_requests=[7])

    async with pair(answer) as (asking, serving):
        send = serving.channel.send

        async def recording_send(data):
            order.append("sent")
            await send(data)

        serving.peer._send = recording_send
        await asking.peer.request(Ask())
        assert order == ["sent", "then"]
        assert asking.frames[0].response.pending_permission_requests == [7]


async def test_a_closed_channel_refuses_to_send():
    left, right = memory_channel_pair()
    await left.aclose()

    assert await right.receive() == b""
    with pytest.raises(ChannelClosedError):
        await left.send(b"x")


async def test_a_request_that_cannot_be_written_any_more_fails_as_those_do_that_wait():
    cause = ProcessError("the other side ended", 3)

    async def send(_data):
        peer.fail(cause)
        raise ChannelClosedError

    async def serve(_id, _raw):
        return None

    async with anyio.create_task_group() as tasks:
        peer = ControlPeer(send, serve, tasks.start_soon, lambda: "1")
        with pytest.raises(ProcessError) as caught:
            await peer.request(Ask())

    assert caught.value is cause


async def test_a_request_that_cannot_be_written_for_another_reason_says_so():
    async def send(_data):
        raise ChannelClosedError

    async def serve(_id, _raw):
        return None

    async with anyio.create_task_group() as tasks:
        peer = ControlPeer(send, serve, tasks.start_soon, lambda: "1")
        with pytest.raises(ChannelClosedError):
            await peer.request(Ask())

    assert peer.waiting == 0
