import gzip
import json
import time

import anyio
import pytest

from claude_wrapper.agent.api.api_error import ApiError
from claude_wrapper.agent.api.client import ModelClient
from claude_wrapper.agent.api.items import BlockDone, RawEvent, ReplyDone, RetryNotice

pytestmark = pytest.mark.anyio


async def test_a_reply_comes_as_events_blocks_and_a_whole(api, client, new_request, collect):
    api.add(
        *api.events(api.text_block(0, "Hello"), api.tool_block(1, "Read", '{"a": 1}'), stop_reason="tool_use")
    )
    items, error = await collect(client, new_request())
    assert error is None
    assert [item.type if isinstance(item, RawEvent) else type(item).__name__ for item in items] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "BlockDone",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "BlockDone",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ReplyDone",
    ]
    reply = items[-1].reply
    assert reply.content == [
        {"type": "text", "text": "Hello"},
        {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"a": 1}},
    ]
    assert (reply.id, reply.stop_reason, reply.usage.input_tokens, reply.usage.output_tokens) == (
        "msg_1",
        "tool_use",
        100,
        20,
    )
    assert reply.complete
    assert reply.streamed


async def test_raw_events_carry_the_bytes_that_came(api, client, new_request, collect):
    api.say("Hello")
    items, _ = await collect(client, new_request())
    deltas = [item for item in items if isinstance(item, RawEvent) and item.delta_type == "text_delta"]
    assert [delta.text for delta in deltas] == ["Hello"]
    assert bytes(deltas[0].data) == (
        b'{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}}'
    )


async def test_events_of_a_new_kind_are_passed_on(api, client, new_request, collect):
    api.add(
        api.start_event(),
        api.event("hologram", depth=1),
        api.event("ping"),
        api.text_block(0, "x"),
        api.end_events(),
    )
    items, error = await collect(client, new_request())
    assert error is None
    assert [item.type for item in items[1:3]] == ["hologram", "ping"]
    assert (items[1].delta_type, items[1].text) == (None, "")


@pytest.mark.feature("ENV-01", "ENV-02")
async def test_the_request_has_the_address_headers_and_fields_of_the_api(api, client, new_request, collect):
    api.say("x")
    await collect(client, new_request(session_id="s-1"))
    request = api.requests[0]
    assert request.target == "/v1/messages?beta=true"
    assert request.headers["x-api-key"] == "sk-test-key"
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.headers["anthropic-beta"] == (
        "interleaved-thinking-2025-05-14,thinking-display-updates-2026-08-18"
    )
    assert request.headers["x-claude-code-session-id"] == "s-1"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == "claude-wrapper"
    assert request.body["model"] == "claude-sonnet-4-5"
    assert request.body["stream"] is True


@pytest.mark.feature("ENV-02", "ENV-03")
async def test_a_client_is_made_from_the_environment(api, new_request, collect):
    api.fail(500)
    environment = {
        "ANTHROPIC_BASE_URL": api.url + "/",
        "ANTHROPIC_AUTH_TOKEN": "token-1",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Foo: bar",
        "ANTHROPIC_BETAS": "my-beta",
        "CLAUDE_CODE_MAX_RETRIES": "0",
    }
    async with ModelClient.from_environment(environment, user_agent="agent/1") as client:
        _, error = await collect(client, new_request())
    assert error.status == 500
    assert len(api.requests) == 1
    headers = api.requests[0].headers
    assert headers["authorization"] == "Bearer token-1"
    assert headers["x-foo"] == "bar"
    assert headers["user-agent"] == "agent/1"
    assert headers["anthropic-beta"].endswith(",my-beta")
    assert "x-api-key" not in headers


@pytest.mark.feature("ENV-03")
async def test_a_failing_server_is_asked_again_with_a_notice_each_time(api, client, new_request, collect):
    api.fail(529, "overloaded_error", "Overloaded")
    api.fail(500, "api_error", "down")
    api.say("Recovered.")
    items, error = await collect(client, new_request())
    assert error is None
    notices = [item for item in items if isinstance(item, RetryNotice)]
    assert [(n.attempt, n.max_retries, n.status, n.kind) for n in notices] == [
        (1, 2, 529, "overloaded"),
        (2, 2, 500, "server_error"),
    ]
    assert items[-1].reply.content == [{"type": "text", "text": "Recovered."}]
    assert [request.raw for request in api.requests] == [api.requests[0].raw] * 3


@pytest.mark.feature("ENV-05")
async def test_when_the_retries_are_used_up_the_failure_is_raised(api, client, new_request, collect):
    api.fail(529, "overloaded_error", "Overloaded")
    items, error = await collect(client, new_request())
    assert [item.attempt for item in items] == [1, 2]
    assert len(api.requests) == 3
    assert (error.status, error.error_type, error.kind, error.terminal_reason) == (
        529,
        "overloaded_error",
        "server_error",
        "api_error",
    )
    assert error.text.startswith("API Error: 529 Overloaded.")


@pytest.mark.parametrize("status", [400, 403, 413])
async def test_what_cannot_help_is_not_tried_again(api, client, new_request, collect, status):
    api.fail(status, "invalid_request_error", "bad thing")
    items, error = await collect(client, new_request())
    assert items == []
    assert error.status == status
    assert len(api.requests) == 1


@pytest.mark.feature("ENV-03")
async def test_the_wait_that_the_server_asks_for_is_kept(api, client, new_request, collect):
    api.fail(429, "rate_limit_error", "slow down", retry_after="0.3")
    api.say("x")
    began = time.monotonic()
    items, _ = await collect(client, new_request())
    assert 0.3 <= items[0].delay <= 0.375
    assert items[0].delay_ms == round(items[0].delay * 1000)
    assert time.monotonic() - began >= 0.3


@pytest.mark.parametrize("content_type", ["text/html", "text/plain"])
async def test_a_web_page_instead_of_a_failure_is_a_failure_like_any_other(
    api, client, new_request, collect, content_type
):
    api.add(b"<html><h1>Bad Gateway</h1></html>", status=502, content_type=content_type, framing="length")
    _, error = await collect(client, new_request())
    assert (error.status, error.error_type, error.message) == (502, None, "Scripted")
    assert "html" not in error.text


@pytest.mark.feature("ENV-01")
async def test_without_credentials_nothing_is_sent(api, new_client, new_request, collect):
    _, error = await collect(new_client(key=None), new_request())
    assert error.text == "Not logged in · Please run /login"
    assert api.connections == 0


@pytest.mark.feature("ENV-12")
async def test_a_field_that_is_refused_is_left_out_at_once_and_from_then_on(
    api, client, new_request, collect
):
    api.fail(400, "invalid_request_error", "output_config.effort: Extra inputs are not permitted")
    api.say("x")
    items, error = await collect(client, new_request(model="claude-opus-4-6"))
    assert error is None
    assert not any(isinstance(item, RetryNotice) for item in items)
    await collect(client, new_request(model="claude-opus-4-6"))
    await collect(client, new_request(model="claude-opus-4-5"))
    assert ["output_config" in request.body for request in api.requests] == [True, False, False, True]


async def test_output_that_does_not_fit_is_shortened_once_for_this_request(api, client, new_request, collect):
    api.fail(400, "invalid_request_error", "exceed context limit: 190000 + 32000 > 200000")
    api.say("x")
    await collect(client, new_request())
    await collect(client, new_request())
    assert [request.body["max_tokens"] for request in api.requests] == [32000, 9000, 32000]


async def test_a_server_that_refuses_everything_is_not_asked_for_ever(api, client, new_request, collect):
    for prompt in range(170_000, 190_000, 1000):
        api.fail(400, "invalid_request_error", f"exceed context limit: {prompt} + 32000 > 200000")
    _, error = await collect(client, new_request())
    assert error.terminal_reason == "prompt_too_long"
    assert len(api.requests) == 9


async def test_keys_are_taken_out_of_what_the_server_says(api, client, new_request, collect):
    api.fail(400, "invalid_request_error", "no such key: sk-test-key")
    _, error = await collect(client, new_request())
    shown = f"{error!r} {error.text} {error.message} {error.failure!r}"
    assert "sk-test-key" not in shown
    assert "[redacted]" in shown


async def test_a_gateway_that_does_not_stream_is_understood(api, client, new_request, collect):
    api.add(api.message("In one piece."), content_type="application/json", framing="length")
    items, error = await collect(client, new_request())
    assert error is None
    assert [type(item) for item in items] == [BlockDone, ReplyDone]
    assert items[-1].reply.content == [{"type": "text", "text": "In one piece."}]
    assert not items[-1].reply.streamed


async def test_replies_can_be_on_their_way_at_the_same_time(api, client, new_request, collect, gate):
    held = gate()
    api.add(api.start_event("msg_1"), held, api.text_block(0, "slow"), api.end_events())
    api.add(*api.events(api.text_block(0, "fast"), message_id="msg_2"))
    done = []

    async def ask():
        items, _ = await collect(client, new_request())
        done.append(items[-1].reply.id)
        held.opened.set()

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await held.reached.wait()
        group.start_soon(ask)
    assert done == ["msg_2", "msg_1"]
    assert api.connections == 2


async def test_a_stream_can_be_read_to_its_error_without_async_with(api, client, new_request):
    api.fail(400)
    with pytest.raises(ApiError):
        async for _ in client.stream(new_request()):
            pass


async def test_a_long_reply_is_read_in_the_order_it_was_written(api, client, new_request, collect):
    words = [f"word{n} " for n in range(3000)]
    deltas = [
        api.event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
        for word in words
    ]
    opening = api.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    closing = api.event("content_block_stop", index=0)
    api.add(*api.events(opening, *deltas, closing))
    items, _ = await collect(client, new_request())
    assert items[-1].reply.content == [{"type": "text", "text": "".join(words)}]
    assert "".join(item.text for item in items if isinstance(item, RawEvent)) == "".join(words)


async def test_a_large_tool_input_arrives_whole(api, client, new_request, collect):
    value = {"content": "x" * 2_000_000}
    api.add(*api.events(api.tool_block(0, "Write", json.dumps(value))))
    items, _ = await collect(client, new_request())
    assert items[-1].reply.content[0]["input"] == value


async def test_a_compressed_reply_is_understood(api, client, new_request, collect):
    body = gzip.compress(b"".join(api.events(api.text_block(0, "small"))))
    api.add(body[:20], body[20:], content_encoding="gzip")
    items, error = await collect(client, new_request())
    assert error is None
    assert items[-1].reply.content == [{"type": "text", "text": "small"}]


async def test_a_reply_that_cannot_be_decompressed_is_no_reply(api, client, new_request, collect):
    api.add(b"not compressed at all", content_encoding="gzip")
    _, error = await collect(client, new_request())
    assert error.failure.cause == "malformed"
