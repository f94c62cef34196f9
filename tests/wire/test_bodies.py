"""Bodies of control requests and replies: typed where they are known, answerable where they are not."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.errors import MessageParseError
from claude_wrapper.wire.bodies import BadRequest, UnknownRequest, decode_reply, decode_request
from claude_wrapper.wire.codec import FrameDecoder, encode
from claude_wrapper.wire.config import AgentDefinitionBody
from claude_wrapper.wire.hook_call_inputs import PreToolUseInput
from claude_wrapper.wire.hook_outputs import HookOutput, PermissionRequestOutput, PreToolUseOutput
from claude_wrapper.wire.hooks import HookMatcherBody
from claude_wrapper.wire.permissions import AllowReply, CanUseTool, DenyReply, decode_permission_reply
from claude_wrapper.wire.replies_steer import InitializeReply, InterruptReply
from claude_wrapper.wire.requests_agent import HookCallback, decode_agent_request
from claude_wrapper.wire.requests_ask import McpToggle
from claude_wrapper.wire.requests_host import HostRequest, decode_host_request
from claude_wrapper.wire.requests_steer import Initialize, Interrupt
from claude_wrapper.wire.unions import HostFrame


def test_a_request_is_told_by_its_subtype():
    assert decode_host_request(b'{"subtype":"interrupt","cancel_queued":true}') == Interrupt(
        cancel_queued=True
    )
    assert decode_host_request(b'{"serverName":"x","enabled":false,"subtype":"mcp_toggle"}') == McpToggle(
        server_name="x", enabled=False
    )
    assert decode_request(b'{"subtype":"interrupt"}', HostRequest) == Interrupt()


def test_the_body_of_a_frame_is_read_where_it_lies():
    frame = FrameDecoder(HostFrame).decode(
        b'{"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}'
    )
    assert decode_host_request(frame.request) == Interrupt()


def test_an_unknown_subtype_is_kept_whole():
    request = decode_host_request(b'{"subtype":"tomorrow","x":[1]}')
    assert isinstance(request, UnknownRequest)
    assert (request.subtype, request.raw) == ("tomorrow", {"subtype": "tomorrow", "x": [1]})


@pytest.mark.parametrize(
    ("raw", "subtype", "text"),
    [
        (b'{"subtype":"mcp_toggle","serverName":"x"}', "mcp_toggle", "enabled"),
        (b'{"subtype":"set_permission_mode","mode":5}', "set_permission_mode", "mode"),
        (b'{"subtype":5}', None, "subtype"),
        (b"{}", None, "subtype"),
        (b"[]", None, "object"),
        (b"null", None, "object"),
        (b"nonsense", None, ""),
        (b'{"subtype":"interrupt","x":%s}' % (b"[" * 100_000 + b"]" * 100_000), None, "nested"),
    ],
)
def test_a_bad_body_says_what_is_wrong_with_it(raw, subtype, text):
    request = decode_host_request(raw)
    assert isinstance(request, BadRequest)
    assert request.subtype == subtype
    assert text in str(request.error)


@given(st.binary(max_size=80))
def test_no_bytes_raise(raw):
    decode_host_request(raw)
    decode_agent_request(msgspec.Raw(raw))


def test_a_body_with_bad_text_is_mended():
    raw = msgspec.Raw(rb'{"subtype":"rename_session","title":"a\ud800' + b'\xff"}')
    assert decode_host_request(raw).title == "a\ufffd\ufffd"


def test_unknown_fields_of_initialize_are_ignored_and_absent_ones_stay_absent():
    request = decode_host_request(
        b'{"subtype":"initialize","hooks":{"Stop":[{"matcher":null,"hookCallbackIds":["h"],"onFailure":"block"}]},'
        b'"agents":{"a":{"description":"d","prompt":"p","maxTurns":3}},"skills":[],"tomorrow":1}'
    )
    assert request == Initialize(
        hooks={"Stop": [HookMatcherBody(matcher=None, hook_callback_ids=["h"], on_failure="block")]},
        agents={"a": AgentDefinitionBody(description="d", prompt="p", max_turns=3)},
        skills=[],
    )
    assert request.system_prompt is msgspec.UNSET


@pytest.mark.parametrize(
    "body",
    [
        Initialize(hooks=None),
        Interrupt(),
        CanUseTool(tool_name="Bash", input={"command": "ls"}, blocked_path=None),
        DenyReply(message="no", interrupt=True),
        AllowReply(updated_input={}, tool_use_id="t"),
        HookOutput(continue_=False, hook_specific_output=PreToolUseOutput(permission_decision="deny")),
    ],
)
def test_only_what_was_set_is_written(body):
    written = json.loads(encode(body))
    assert msgspec.convert(written, type(body)) == body
    assert len(written) == sum(
        getattr(body, name) is not msgspec.UNSET for name in body.__struct_fields__
    ) + bool(body.__struct_config__.tag)


def test_an_agent_may_send_a_hook_input_as_a_struct():
    event = PreToolUseInput(
        session_id="s", transcript_path="/t", cwd="/", tool_name="Bash", tool_input={}, tool_use_id="t"
    )
    request = decode_agent_request(encode(HookCallback(callback_id="h", input=event)))
    assert request.input["hook_event_name"] == "PreToolUse"
    assert msgspec.convert(request.input, PreToolUseInput) == event


def test_hook_outputs_are_told_by_their_event():
    raw = b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}'
    assert decode_reply(raw, HookOutput).hook_specific_output == PermissionRequestOutput(
        decision=DenyReply(message="no")
    )
    assert decode_reply(b'{"async":true,"asyncTimeout":5}', HookOutput) == HookOutput(
        async_=True, async_timeout=5
    )


@pytest.mark.parametrize(
    "raw",
    [
        b'{"hookSpecificOutput":{"permissionDecision":"deny"}}',
        b'{"hookSpecificOutput":{"hookEventName":"Tomorrow"}}',
        b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"perhaps"}}',
        b'{"continue":"no"}',
        b'{"decision":"perhaps"}',
        b"[]",
        b"nonsense",
    ],
)
def test_a_hook_output_that_means_nothing_is_refused(raw):
    with pytest.raises(MessageParseError, match="HookOutput"):
        decode_reply(raw, HookOutput)


def test_no_body_is_an_empty_answer():
    assert decode_reply(None, InterruptReply) == InterruptReply(still_queued=[])
    assert decode_reply(None, InitializeReply) == InitializeReply()


def test_an_answer_about_permission_allows_or_denies():
    assert decode_permission_reply(b'{"behavior":"allow"}') == AllowReply()
    assert decode_permission_reply(b'{"behavior":"deny","message":"no"}') == DenyReply(message="no")


@pytest.mark.parametrize(
    "raw", [None, b"{}", b'{"behavior":"perhaps"}', b'{"behavior":"allow","updatedInput":5}']
)
def test_an_answer_about_permission_that_does_neither_is_refused(raw):
    with pytest.raises(MessageParseError):
        decode_permission_reply(raw)
