"""How runs end: failures never look like answers, and no answer is lost."""

import pytest

from claude_wrapper import (
    ApiError,
    AssistantMessage,
    AuthenticationError,
    ClaudeSDKClient,
    MaxTurnsError,
    ModelNotFoundError,
    OverloadedError,
    RateLimitError,
    ResultError,
    ResultMessage,
    StreamEvent,
    query,
)
from claude_wrapper.testing import ScriptedModel, call, fail, say

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bounded")]

NO_RETRIES = {"CLAUDE_CODE_MAX_RETRIES": "0"}


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def gather(messages, into):
    async for message in messages:
        into.append(message)


@pytest.mark.feature("RES-05", "WRAP-08")
@pytest.mark.parametrize(
    ("status", "error", "fault"),
    [
        (400, ApiError, None),
        (401, AuthenticationError, "authentication_failed"),
        (403, AuthenticationError, None),
        (404, ModelNotFoundError, "model_not_found"),
        (429, RateLimitError, "rate_limit"),
        (500, ApiError, "server_error"),
        (529, OverloadedError, None),
    ],
)
async def test_a_failure_of_the_api_is_told_by_status_and_type_and_not_as_an_answer(
    own, status, error, fault
):
    seen = []
    with ScriptedModel([fail(status)] * 9) as model, pytest.raises(error) as caught:
        await gather(query(prompt="go", options=own(model, env=NO_RETRIES)), seen)

    said = [m for m in seen if isinstance(m, AssistantMessage)]
    assert said[-1].error is not None
    assert fault in (None, said[-1].error)
    assert isinstance(seen[-1], ResultMessage)
    assert (seen[-1].is_error, seen[-1].api_error_status) == (True, status)
    assert caught.value.api_error_status == status


@pytest.mark.feature("RES-06")
async def test_with_a_client_it_is_raised_where_one_wants_it_and_the_session_goes_on(own):
    with ScriptedModel([fail(401), say("better")]) as model:
        settings = own(model, env=NO_RETRIES, raise_on_api_error=True)
        async with ClaudeSDKClient(settings) as client:
            await client.query("go")
            with pytest.raises(AuthenticationError):
                await gather(client.receive_response(), [])
            await client.query("again")
            messages = [m async for m in client.receive_response()]

    assert messages[-1].result == "better"


@pytest.mark.feature("RES-01", "RES-05")
async def test_the_limit_of_turns_is_a_result_with_a_text_and_then_an_error_of_its_own(own):
    seen = []
    calls = [call("Read", file_path="/etc/hostname")] * 3
    with ScriptedModel(calls) as model, pytest.raises(MaxTurnsError, match="1"):
        await gather(query(prompt="go", options=own(model, max_turns=1)), seen)

    assert (seen[-1].subtype, seen[-1].is_error) == ("error_max_turns", True)
    assert seen[-1].errors


async def test_the_limit_of_turns_is_no_failure_of_the_process(agent, options):
    text = "Reached maximum number of turns (1)"
    agent.begin().result(None, subtype="error_max_turns", is_error=True, errors=[text]).exit(1)

    with pytest.raises(MaxTurnsError, match=r"Reached maximum number of turns \(1\)"):
        await gather(query(prompt="go", options=options()), [])


@pytest.mark.parametrize(
    ("text", "fields", "told"),
    [
        ("API Error: 500", {"errors": []}, "API Error: 500"),
        ("x", {"errors": ["first", "second"]}, "first; second"),
        ("", {"errors": [], "subtype": "error_during_execution"}, "error_during_execution"),
    ],
)
async def test_an_error_result_is_told_by_what_it_says_and_never_as_success(
    agent, options, text, fields, told
):
    agent.begin().result(text, is_error=True, **fields).exit(1)

    with pytest.raises(ResultError, match=told) as caught:
        await gather(query(prompt="go", options=options()), [])
    assert "success" not in str(caught.value)


@pytest.mark.feature("LOOP-15", "STREAM-06")
async def test_pieces_of_a_tools_input_come_as_they_are_written(own):
    with ScriptedModel([call("Bash", command="echo " + "x" * 300), say("done")]) as model:
        settings = own(model, include_partial_messages=True, allowed_tools=["Bash"])
        messages = [m async for m in query(prompt="go", options=settings)]

    deltas = [m.event["delta"] for m in messages if isinstance(m, StreamEvent) and "delta" in m.event]
    pieces = [d["partial_json"] for d in deltas if d.get("type") == "input_json_delta"]
    (use,) = [
        b for m in messages if isinstance(m, AssistantMessage) for b in m.content if hasattr(b, "input")
    ]
    assert len(pieces) > 1
    assert "x" * 300 in "".join(pieces)
    assert use.input["command"].startswith("echo x")


@pytest.mark.feature("COST-01")
async def test_what_a_reply_of_several_blocks_used_is_counted_once(own):
    from claude_wrapper.testing import turn

    usage = {"input_tokens": 100, "output_tokens": 50}
    reply = turn(say("first"), call("Read", file_path="/etc/hostname"), usage=usage)
    with ScriptedModel([reply, turn(say("done"), usage=usage)]) as model:
        messages = [m async for m in query(prompt="go", options=own(model))]

    frames = [m for m in messages if isinstance(m, AssistantMessage)]
    assert len({m.message_id for m in frames}) == 2
    assert len(frames) == 3
    assert messages[-1].usage["input_tokens"] == 200
    assert messages[-1].usage["output_tokens"] == 100
