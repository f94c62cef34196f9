import json

import pytest

from claude_wrapper.agent.api.api_error import ReplyCutError, error_of, not_logged_in
from claude_wrapper.agent.api.failure import Failure, failure_of_error_event, failure_of_response
from claude_wrapper.agent.api.fold import Reply
from claude_wrapper.errors import ClaudeSDKError


def response(status, message="the message", error_type="some_error", body=None, **headers):
    if body is None:
        body = json.dumps({"type": "error", "error": {"type": error_type, "message": message}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return failure_of_response(status, "Reason", named, body, now=1_000_000_000)


def ended(failure, uses_key=True):
    return error_of(failure, host="api.test:443", model="claude-x", uses_key=uses_key)


# Kinds and statuses as an agent of the field reports them.
@pytest.mark.feature("ENV-05")
@pytest.mark.parametrize(
    ("status", "while_retrying", "at_the_end"),
    [
        (400, "unknown", "unknown"),
        (401, "authentication_failed", "authentication_failed"),
        (402, "unknown", "unknown"),
        (403, "authentication_failed", "authentication_failed"),
        (404, "model_not_found", "model_not_found"),
        (408, "server_error", "unknown"),
        (409, "server_error", "unknown"),
        (413, "invalid_request", "invalid_request"),
        (422, "unknown", "unknown"),
        (429, "rate_limit", "rate_limit"),
        (500, "server_error", "server_error"),
        (503, "server_error", "server_error"),
        (529, "overloaded", "server_error"),
    ],
)
def test_each_status_has_its_kinds(status, while_retrying, at_the_end):
    failure = response(status)
    assert failure.retry_kind == while_retrying
    error = ended(failure)
    assert (error.kind, error.status, error.error_type, error.api_error) == (
        at_the_end,
        status,
        "some_error",
        None,
    )


@pytest.mark.parametrize("cause", ["refused", "unreachable", "dropped", "timeout", "cut", "stalled"])
def test_a_connection_that_fails_is_a_failure_of_the_server_without_a_status(cause):
    failure = Failure(cause)
    error = ended(failure)
    assert failure.retry_kind == "unknown"
    assert (error.kind, error.status, error.api_error) == ("server_error", None, "connection_failed")
    assert error.text.startswith("API Error: ")


def test_an_untrusted_certificate_is_told_apart():
    error = ended(Failure("tls", "self-signed certificate"))
    assert error.api_error == "tls_untrusted_ca"
    assert "self-signed certificate" in error.text


@pytest.mark.parametrize(
    ("failure", "beginning"),
    [
        (response(400, "bad thing"), "API Error: 400 bad thing"),
        (response(401), "Invalid API key · "),
        (response(403), "Failed to authenticate. API Error: 403 the message"),
        (response(500, "mock down"), "API Error: 500 mock down. "),
        (response(529, "Overloaded"), "API Error: 529 Overloaded. "),
        (response(429, "slow down"), "API Error: The server takes no more requests for now (429): slow down"),
        (response(400, "prompt is too long: 250000 tokens > 200000 maximum"), "Prompt is too long · "),
        (Failure("refused"), "API Error: Connection refused"),
        (Failure("no_reply", "a web page"), "API Error: "),
    ],
)
def test_the_user_is_told_what_happened(failure, beginning):
    assert ended(failure).text.startswith(beginning)


def test_a_model_that_is_not_found_is_named():
    assert "claude-x" in ended(response(404, "model: claude-x")).text


def test_a_refused_token_is_not_called_a_key():
    assert ended(response(401, "bad token"), uses_key=False).text == (
        "Failed to authenticate. API Error: 401 bad token"
    )


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("prompt is too long: 250000 tokens > 200000 maximum", (250000, 200000)),
        ("Prompt is too long", None),
        ("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, …", (190000, 200000)),
    ],
)
def test_a_prompt_that_is_too_long_is_recognised_with_its_numbers(message, limit):
    failure = response(400, message)
    error = ended(failure)
    assert failure.is_too_long
    assert failure.token_limit == limit
    assert (error.kind, error.terminal_reason) == ("invalid_request", "prompt_too_long")


@pytest.mark.parametrize(
    "failure",
    [response(413), response(400, "messages.1.content.0.image.source.base64: image exceeds 5 MB maximum")],
)
def test_attachments_that_are_too_large_are_told_apart(failure):
    error = ended(failure)
    assert (error.kind, error.terminal_reason) == ("invalid_request", "image_error")


def test_an_empty_account_is_a_billing_error():
    error = ended(response(400, "Your credit balance is too low to access the API."))
    assert (error.kind, error.text, error.terminal_reason) == (
        "billing_error",
        "Credit balance is too low",
        "api_error",
    )


@pytest.mark.parametrize(
    "body", [b"<html><h1>502 Bad Gateway</h1></html>", b"", b"{}", b'{"error": "text"}', b"[" * 100_000]
)
def test_a_body_that_is_not_of_the_api_is_replaced_by_the_reason(body):
    failure = response(502, body=body)
    assert (failure.message, failure.error_type) == ("Reason", None)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry_after": "3"}, 3.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "250", "retry_after": "3"}, 0.25),
        ({"retry_after_ms": "x", "retry_after": "3"}, 3.0),
        ({"retry_after": "Sun, 09 Sep 2001 01:47:10 GMT"}, 30.0),
        ({"retry_after": "Sun, 09 Sep 2001 01:40:00 GMT"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-1"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "inf"}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read_in_all_its_forms(headers, seconds):
    assert response(429, **headers).retry_after == seconds


@pytest.mark.parametrize(("value", "meaning"), [("true", True), ("false", False)])
def test_the_advice_to_try_again_is_read(value, meaning):
    assert response(500, x_should_retry=value).should_retry is meaning


def test_the_id_of_the_request_is_kept():
    assert response(500, request_id="req_1").request_id == "req_1"
    body = b'{"error": {"type": "t", "message": "m"}, "request_id": "req_2"}'
    assert response(500, body=body, request_id="req_1").request_id == "req_2"


@pytest.mark.parametrize(
    ("error_type", "status"), [("overloaded_error", 529), ("rate_limit_error", 429), ("new_error", 500)]
)
def test_an_error_event_has_the_status_that_its_type_stands_for(error_type, status):
    failure = failure_of_error_event(error_type, "m", None)
    assert (failure.status, failure.error_type) == (status, error_type)


@pytest.mark.feature("ENV-04")
@pytest.mark.parametrize(
    ("cause", "what"),
    [
        ("cut", "Connection lost mid-response."),
        ("stalled", "The response stopped arriving."),
        ("error_event", "Server error mid-response."),
    ],
)
def test_a_reply_that_broke_off_says_why_and_keeps_what_came(cause, what):
    reply = Reply(head={"id": "msg_1"})
    error = ReplyCutError(Failure(cause), reply)
    assert error.text == f"API Error: {what} The response above may be incomplete."
    assert error.reply is reply


@pytest.mark.feature("ENV-01")
def test_without_a_key_the_user_is_told_to_log_in():
    error = not_logged_in()
    assert isinstance(error, ClaudeSDKError)
    assert (error.text, error.kind, error.status, error.api_error) == (
        "Not logged in · Please run /login",
        "authentication_failed",
        None,
        None,
    )
    assert error.terminal_reason == "api_error"
