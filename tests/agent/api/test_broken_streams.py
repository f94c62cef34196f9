import anyio
import pytest

from claude_wrapper.agent.api.api_error import ReplyCutError
from claude_wrapper.agent.api.cost import Ledger
from claude_wrapper.agent.api.items import RawEvent, ReplyAbandoned, ReplyDone, RetryNotice

pytestmark = pytest.mark.anyio


@pytest.fixture
def add_cut_stream(api, cut, gate):
    """A reply of which the given blocks arrive before the connection breaks."""

    def add(*blocks, reset=True):
        held = gate()
        api.add(api.start_event(), *blocks, api.event("ping"), held, cut(reset=reset))

        def on_item(item):
            # The ping is the last event before the cut: now everything has arrived.
            if isinstance(item, RawEvent) and item.type == "ping":
                held.opened.set()

        return on_item

    return add


@pytest.mark.feature("ENV-04")
@pytest.mark.parametrize("reset", [True, False])
async def test_a_stream_that_breaks_before_a_block_is_finished_is_asked_for_again(
    api, client, new_request, collect, kinds, add_cut_stream, reset
):
    on_item = add_cut_stream(api.open_text(0, "Part of it"), reset=reset)
    api.say("Whole.")
    items, error = await collect(client, new_request(), on_item)
    assert error is None
    assert kinds(items) == ["ReplyAbandoned", "RetryNotice", "BlockDone", "ReplyDone"]
    abandoned = next(item for item in items if isinstance(item, ReplyAbandoned)).reply
    assert [block.data for block in abandoned.open_blocks] == [{"type": "text", "text": "Part of it"}]
    assert (abandoned.id, abandoned.blocks, abandoned.spent.output_tokens) == ("msg_1", [], 3)
    notice = next(item for item in items if isinstance(item, RetryNotice))
    assert (notice.attempt, notice.status, notice.kind) == (1, None, "unknown")


@pytest.mark.feature("ENV-04")
async def test_a_stream_that_ends_early_twice_is_then_asked_for_in_one_piece(
    api, client, new_request, collect, kinds
):
    part = [api.start_event(), api.open_text(0, "Part of it")]
    api.add(*part, framing="close")
    api.add(*part, framing="close")
    api.add(api.message("Part of it"), content_type="application/json", framing="length")
    items, error = await collect(client, new_request())
    assert error is None
    assert kinds(items) == ["ReplyAbandoned", "RetryNotice", "ReplyAbandoned", "BlockDone", "ReplyDone"]
    assert [request.body["stream"] for request in api.requests] == [True, True, False]
    reply = items[-1].reply
    assert (reply.content, reply.stop_reason, reply.streamed) == (
        [{"type": "text", "text": "Part of it"}],
        "end_turn",
        False,
    )
    # What was read of the broken streams was paid for: 26 tokens of output, as the field counts.
    ledger = Ledger()
    model = new_request().model
    for item in items:
        if isinstance(item, (ReplyAbandoned, ReplyDone)):
            ledger.enter_usage(item.reply.spent, model)
    assert ledger.total_cost_usd == 0.0012900000000000001


async def test_a_connection_that_breaks_every_time_is_streamed_until_the_retries_are_used_up(
    api, client, new_request, collect, kinds, add_cut_stream
):
    hooks = [add_cut_stream(api.open_text(0, "Part")) for _ in range(3)]
    api.add(api.message("Whole."), content_type="application/json", framing="length")
    items, error = await collect(client, new_request(), lambda item: [hook(item) for hook in hooks])
    assert error is None
    assert kinds(items) == [
        *["ReplyAbandoned", "RetryNotice"] * 2,
        "ReplyAbandoned",
        "BlockDone",
        "ReplyDone",
    ]
    assert [request.body["stream"] for request in api.requests] == [True, True, True, False]


async def test_the_reply_in_one_piece_is_tried_again_like_any_request(
    api, client, new_request, collect, kinds
):
    api.add(api.start_event(), api.event("error", error={"type": "api_error", "message": "Internal"}))
    api.fail(529, "overloaded_error")
    api.add(api.message("Whole."), content_type="application/json", framing="length")
    items, error = await collect(client, new_request())
    assert error is None
    assert kinds(items) == ["ReplyAbandoned", "RetryNotice", "BlockDone", "ReplyDone"]
    assert [request.body["stream"] for request in api.requests] == [True, False, False]


async def test_an_error_in_the_stream_becomes_the_error_of_the_request(api, new_client, new_request, collect):
    client = new_client(unstreamed=False, retries=1)
    api.add(
        api.start_event(),
        api.open_text(0, "Part"),
        api.event("error", error={"type": "overloaded_error", "message": "Overloaded"}, request_id="req_9"),
    )
    items, error = await collect(client, new_request())
    assert (error.status, error.error_type, error.request_id) == (529, "overloaded_error", "req_9")
    assert len(api.requests) == 2
    notice = next(item for item in items if isinstance(item, RetryNotice))
    assert (notice.status, notice.kind) == (529, "overloaded")


@pytest.mark.feature("ENV-04")
async def test_finished_blocks_are_kept_and_not_asked_for_again(
    api, client, new_request, collect, kinds, add_cut_stream
):
    on_item = add_cut_stream(api.tool_block(0, "Bash", '{"command": "ls"}'), api.open_text(1, "Part of it"))
    items, error = await collect(client, new_request(), on_item)
    assert kinds(items) == ["BlockDone"]
    assert isinstance(error, ReplyCutError)
    assert (error.text, error.kind, error.api_error, error.status) == (
        "API Error: Connection lost mid-response. The response above may be incomplete.",
        "server_error",
        "connection_failed",
        None,
    )
    assert [block.type for block in error.reply.blocks] == ["tool_use"]
    assert [block.index for block in error.reply.open_blocks] == [1]
    assert error.reply.spent.output_tokens > 1
    assert len(api.requests) == 1


@pytest.mark.feature("ENV-04")
async def test_an_error_of_the_server_after_finished_blocks_keeps_them_too(api, client, new_request, collect):
    api.add(
        api.start_event(),
        api.text_block(0, "Whole."),
        api.event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
    )
    _, error = await collect(client, new_request())
    assert isinstance(error, ReplyCutError)
    assert error.text == "API Error: Server error mid-response. The response above may be incomplete."
    assert error.reply.content == [{"type": "text", "text": "Whole."}]


@pytest.mark.feature("ENV-06")
async def test_a_stream_that_says_nothing_for_too_long_is_given_up(
    api, new_client, new_request, collect, kinds, gate
):
    held = gate()
    api.add(api.start_event(), api.open_text(0, "Part"), held)
    api.say("Whole.")
    items, error = await collect(new_client(idle=0.2), new_request())
    assert error is None
    assert kinds(items) == ["ReplyAbandoned", "RetryNotice", "BlockDone", "ReplyDone"]
    with anyio.fail_after(40):
        await held.client_left.wait()


@pytest.mark.feature("ENV-06")
async def test_a_stream_that_stalls_after_finished_blocks_says_so(
    api, new_client, new_request, collect, gate
):
    api.add(api.start_event(), api.text_block(0, "Whole."), gate())
    _, error = await collect(new_client(idle=0.2), new_request())
    assert error.text == "API Error: The response stopped arriving. The response above may be incomplete."


@pytest.mark.feature("ENV-06")
async def test_a_ping_now_and_then_keeps_a_stream_alive(api, new_client, new_request, collect, gate):
    gates = [gate() for _ in range(4)]
    parts = [part for held in gates for part in (api.event("ping"), held)]
    api.add(api.start_event(), *parts, api.text_block(0, "x"), api.end_events())
    waiting = iter(gates)

    def on_item(item):
        if isinstance(item, RawEvent) and item.type == "ping":
            next(waiting).opened.set()

    items, error = await collect(new_client(idle=5), new_request(), on_item)
    assert error is None
    assert items[-1].reply.complete


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/html", b"<html>Sign in</html>"),
        ("text/event-stream", b""),
        ("text/event-stream", b": only a comment\n\n"),
        ("text/event-stream", b"data: nonsense\n\n"),
        ("application/json", b'{"type": "error"}'),
        ("application/json", b"nonsense"),
        ("application/json", b"[]"),
    ],
)
async def test_a_success_without_a_reply_is_no_success(api, client, new_request, collect, content_type, body):
    api.add(body, content_type=content_type, framing="length")
    items, error = await collect(client, new_request())
    assert items == []
    assert (error.kind, error.status, error.api_error) == ("unknown", None, None)
    assert error.text.startswith("API Error: ")
    assert [request.body["stream"] for request in api.requests] == [True, False]


async def test_nonsense_in_the_middle_of_a_stream_abandons_it(api, client, new_request, collect, kinds):
    api.add(api.start_event(), api.open_text(0, "Part"), b"data: {nonsense\n\n")
    api.add(api.message("Whole."), content_type="application/json", framing="length")
    items, error = await collect(client, new_request())
    assert error is None
    assert kinds(items) == ["ReplyAbandoned", "BlockDone", "ReplyDone"]


async def test_a_stream_without_its_last_event_is_complete_if_nothing_else_is_missing(
    api, client, new_request, collect
):
    end = api.event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
    api.add(api.start_event(), api.text_block(0, "Whole."), end)
    items, error = await collect(client, new_request())
    assert error is None
    assert items[-1].reply.complete
    assert items[-1].reply.usage.output_tokens == 5


async def test_half_a_surrogate_pair_does_not_get_into_history_or_onto_the_wire(
    api, client, new_request, collect
):
    data = rb'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83d"}}'
    opening = api.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    api.add(
        api.start_event(),
        opening,
        b"data: " + data + b"\n\n",
        api.event("content_block_stop", index=0),
        api.end_events(),
    )
    items, _ = await collect(client, new_request())
    assert items[-1].reply.content == [{"type": "text", "text": "a\ufffd"}]
    said = [bytes(i.data).decode() for i in items if isinstance(i, RawEvent) and i.delta_type]
    assert "\ufffd" in said[-1]
    assert not any("\\ud83d" in each for each in said)
