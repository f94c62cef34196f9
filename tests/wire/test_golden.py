"""Recorded frames of the field: each decodes to its struct and encodes back to the same JSON."""

import json
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from claude_wrapper.wire import replies_ask as ask
from claude_wrapper.wire import replies_steer as steer
from claude_wrapper.wire.bodies import UnknownRequest, decode_reply
from claude_wrapper.wire.codec import FrameDecoder, encode
from claude_wrapper.wire.control import ControlFailure, ControlRequestFrame, ControlResponseFrame
from claude_wrapper.wire.hook_outputs import HookOutput, HookSpecificOutput
from claude_wrapper.wire.hooks import HookEventInput
from claude_wrapper.wire.notices import SystemHead
from claude_wrapper.wire.permissions import PermissionReply
from claude_wrapper.wire.requests_agent import (
    AgentRequest,
    ElicitationReply,
    HookCallback,
    McpMessageReply,
    decode_agent_request,
)
from claude_wrapper.wire.requests_host import HostRequest, decode_host_request
from claude_wrapper.wire.system import SystemFrame, decode_system
from claude_wrapper.wire.unions import AgentFrame, HostFrame

FRAMES = Path(__file__).parent.parent / "frames"

LEFT_ASIDE = {
    # Diagnostics that the one agent that sends them keeps for its makers.
    "AssistantFrame.api_error_params",
    "InitFrame.startup_timing",
    "ResultFrame.first_request_cache_read_input_tokens",
    "ResultFrame.first_request_input_tokens",
    "ResultFrame.input_attachments_detail",
    "ResultFrame.message_normalization_detail",
    "ResultFrame.process_turn_index",
    "ResultFrame.request_build_detail",
    "ResultFrame.request_sent_wall_ms",
    "ResultFrame.time_to_request_cpu_ms",
    "ResultFrame.time_to_request_loop_lag_ms",
    "ResultFrame.time_to_request_major_faults",
    "ResultFrame.time_to_request_phases_ms",
    "ResultFrame.tool_schema_build_detail",
    "ResultFrame.turn_start_resume_kind",
    # Switches of user interfaces that this agent has not.
    "InitializeReply.feedback_mode",
    "InitializeReply.hooks_when_unanswered_kept",
    "InitializeReply.ide_rc_auto_enable_gate",
    "InitializeReply.other_hook_ask_outranks_host",
    "InitializeReply.remote_control_auto_connect_default",
    "InitializeReply.remote_control_auto_enable",
    "InitializeReply.remote_control_auto_on_by_default",
    "InitializeReply.remote_control_available",
    # Sent on purpose, to see it ignored.
    "Initialize.unknownField",
}
"""Fields of recorded frames that no struct has, as the field's place in what was decoded."""

DECLARED_ONLY = {
    # Frames that the protocol declares and no recording shows.
    "AuthStatusFrame",
    "CommandsChangedFrame",
    "ControlRequestProgressFrame",
    "ElicitationCompleteFrame",
    "FilesPersistedFrame",
    "HookProgressFrame",
    "KeepAliveFrame",
    "LocalCommandOutputFrame",
    "MemoryRecallFrame",
    "MirrorErrorFrame",
    "ModelFallbackFrame",
    "ModelRefusalFallbackFrame",
    "ModelRefusalNoFallbackFrame",
    "PluginInstallFrame",
    "RateLimitEventFrame",
    "SessionWritesLostFrame",
    "ToolProgressFrame",
    "ToolUseSummaryFrame",
    "UpdateEnvironmentVariablesFrame",
    "WorkerShuttingDownFrame",
    # Requests likewise.
    "RequestUserDialog",
    # Events that are documented for hooks of the settings and were never seen over the wire.
    "ConfigChangeInput",
    "CwdChangedInput",
    "FileChangedInput",
    "PermissionDeniedInput",
    "SessionEndInput",
    "SetupInput",
    "TeammateIdleInput",
    "WorktreeCreateInput",
    "WorktreeRemoveInput",
    # Answers of hooks that no scenario gives.
    "CwdChangedOutput",
    "ElicitationOutput",
    "ElicitationResultOutput",
    "FileChangedOutput",
    "MessageDisplayOutput",
    "NotificationOutput",
    "PermissionDeniedOutput",
    "PostModelSwitchOutput",
    "PostToolBatchOutput",
    "PostToolUseFailureOutput",
    "PreModelSwitchOutput",
    "SessionStartOutput",
    "SetupOutput",
    "StopOutput",
    "SubagentStartOutput",
    "SubagentStopOutput",
    "UserPromptExpansionOutput",
    "WorktreeCreateOutput",
}
"""Members of the unions that no golden frame meets."""

AGENT = FrameDecoder(AgentFrame)
HOST = FrameDecoder(HostFrame)

ANSWERS_OF_AGENTS = {
    "background_tasks": steer.BackgroundTasksReply,
    "cancel_async_message": steer.CancelAsyncMessageReply,
    "file_suggestions": ask.FileSuggestionsReply,
    "get_binary_version": ask.BinaryVersionReply,
    "get_context_usage": ask.ContextUsageReply,
    "get_hooks_listing": ask.HooksListingReply,
    "get_session_cost": ask.SessionCostReply,
    "get_settings": ask.SettingsReply,
    "get_task_output": ask.TaskOutputReply,
    "get_usage": ask.UsageReply,
    "initialize": steer.InitializeReply,
    "interrupt": steer.InterruptReply,
    "list_models": ask.ModelsReply,
    "list_permission_rules": ask.PermissionRulesReply,
    "mcp_set_servers": ask.McpSetServersReply,
    "mcp_status": ask.McpStatusReply,
    "read_file": ask.ReadFileReply,
    "register_repo_root": steer.RepoRootReply,
    "reload_output_styles": steer.OutputStylesReply,
    "reload_plugins": steer.PluginsReply,
    "reload_skills": steer.SkillsReply,
    "rewind_files": steer.RewindFilesReply,
    "set_model": steer.SetModelReply,
    "set_permission_mode": steer.SetModeReply,
}
ANSWERS_OF_HOSTS = {
    "can_use_tool": PermissionReply,
    "elicitation": ElicitationReply,
    "hook_callback": HookOutput,
    "mcp_message": McpMessageReply,
}


def read(name):
    return (FRAMES / f"{name}.jsonl").read_bytes().split(b"\n")[:-1]


def cases(*names):
    return [
        pytest.param(name, line, id=f"{name}-{number}")
        for name in names
        for number, line in enumerate(read(name), 1)
    ]


def decoded(name, line):
    frame = (AGENT if name.startswith("agent") else HOST).decode(line)
    return decode_system(line) if isinstance(frame, SystemHead) else frame


def body(name, frame):
    decode = decode_agent_request if name == "agent" else decode_host_request
    return decode(frame.request)


def known(value, place):
    """The JSON value without the fields that are left aside."""
    if isinstance(value, dict):
        return {
            key: known(item, f"{place}.{key}")
            for key, item in value.items()
            if f"{place}.{key}" not in LEFT_ASIDE
        }
    return value


def assert_same(value, raw):
    place = type(value).__name__
    assert json.loads(encode(value)) == known(json.loads(bytes(raw)), place)


@pytest.mark.parametrize(("name", "line"), cases("agent", "host"))
def test_frame_comes_back_as_it_was(name, line):
    frame = decoded(name, line)
    assert type(frame) in members(), getattr(frame, "error", frame)
    assert_same(frame, line)


@pytest.mark.parametrize(
    ("name", "line"),
    [case for case in cases("agent", "host") if b'"type":"control_request"' in case.values[1]],
)
def test_body_of_a_request_comes_back_as_it_was(name, line):
    frame = decoded(name, line)
    request = body(name, frame)
    if isinstance(request, UnknownRequest):
        assert (name, request.subtype) == ("host", "can_use_tool"), "an agent's question, sent the wrong way"
        return
    assert type(request) in members(), request.error
    assert_same(request, frame.request)
    if isinstance(request, HookCallback):
        event = msgspec.convert(request.input, HookEventInput)
        assert json.loads(encode(event)) == request.input


@pytest.mark.parametrize(("name", "line"), cases("agent_replies", "host_replies"))
def test_answer_to_a_request_comes_back_as_it_was(name, line):
    row = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    frame = decoded(name, row["frame"])
    assert isinstance(frame, ControlResponseFrame)
    assert_same(frame, row["frame"])
    if isinstance(frame.response, ControlFailure):
        return
    answers = ANSWERS_OF_AGENTS if name == "agent_replies" else ANSWERS_OF_HOSTS
    kind = answers.get(json.loads(bytes(row["request"])))
    raw = b"{}" if frame.response.response is msgspec.UNSET else bytes(frame.response.response)
    if kind is None:
        assert raw == b"{}", "an answer with content has a struct"
    else:
        assert_same(decode_reply(raw, kind), raw)


UNIONS = (AgentFrame, HostFrame, SystemFrame, AgentRequest, HostRequest, HookEventInput, HookSpecificOutput)


@cache
def members():
    return {member for union in UNIONS for member in get_args(union)} - {SystemHead}


def everything():
    """Every struct that the golden frames decode to, with the JSON it came from."""
    for case in cases("agent", "host"):
        name, line = case.values
        frame = decoded(name, line)
        yield frame, json.loads(line)
        if isinstance(frame, ControlRequestFrame):
            request = body(name, frame)
            yield request, json.loads(bytes(frame.request))
            if isinstance(request, HookCallback):
                yield msgspec.convert(request.input, HookEventInput), request.input
    for answers, name in ((ANSWERS_OF_AGENTS, "agent_replies"), (ANSWERS_OF_HOSTS, "host_replies")):
        for row in map(json.loads, read(name)):
            yield decoded(name, encode(row["frame"])), row["frame"]
            answer, kind = row["frame"]["response"].get("response"), answers.get(row["request"])
            if answer and kind is not None:
                reply = msgspec.convert(answer, kind)
                yield reply, answer
                if isinstance(reply, HookOutput) and reply.hook_specific_output is not msgspec.UNSET:
                    yield reply.hook_specific_output, answer["hookSpecificOutput"]


def test_every_struct_is_met_or_said_to_be_declared_only():
    names = {member.__name__ for member in members()}
    met = {type(value).__name__ for value, _ in everything()}
    assert names - met == DECLARED_ONLY


def test_every_field_that_is_left_aside_was_seen():
    seen = {f"{type(value).__name__}.{key}" for value, raw in everything() for key in raw}
    assert seen >= LEFT_ASIDE


def test_golden_frames_are_few():
    assert sum(path.stat().st_size for path in FRAMES.glob("*.jsonl")) < 400_000
